"""`keras_elmo`: uses what is trained, from the command line."""

from collections.abc import Sequence

from keras_elmo.cli.command import Command

PROG = "keras_elmo"
EXAMPLES = f"""\
  {PROG} embed corpus.txt.gz vectors.hdf5
  {PROG} evaluate english-small held-out.txt.gz
  {PROG} score my-bilm sentences.txt --output scores.tsv
  {PROG} substitutes english-small --text "She drank the tea." --position 3
  {PROG} senses english-small corpus.txt.gz --word bank --plots pictures
  {PROG} presets
  {PROG} download original
  {PROG} convert https://tfhub.dev/google/elmo/3 elmo-3
  {PROG} export spam-model/model.keras served"""
SUBCOMMANDS = {
    "embed": "vectors of every line of a text, in a file",
    "evaluate": "perplexity of text under a language model",
    "score": "log-probability of each sentence",
    "substitutes": "words that fit at a place of a sentence",
    "senses": "places of a word in a text, and which of them are alike",
    "presets": "models that can be loaded by name",
    "download": "published models into the cache",
    "convert": "a TF-Hub module as options.json and weights.hdf5",
    "export": "SavedModel for TF-Hub or TensorFlow Serving",
}
COMMAND = Command(PROG, "Use trained ELMo models.", EXAMPLES, SUBCOMMANDS)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command with arguments (None: the process's own); gives its status."""
    return COMMAND.run(argv)
