"""`keras_elmo-train`: trains a classifier, a tagger or a biLM from the command line."""

from collections.abc import Sequence

from keras_elmo.cli.command import Command

PROG = "keras_elmo-train"
EXAMPLES = f"""\
  {PROG} classifier --output spam-model
  {PROG} classifier spam.csv --text-column v2 --label-column v1 --encoding latin-1 --output DIR
  {PROG} tagger tagged.tsv --label-column 2 --output DIR
  {PROG} bilm corpus.txt --output my-bilm"""
SUBCOMMANDS = {
    "classifier": "train a text classifier from a CSV or TSV file",
    "tagger": "train a tagger from sentences with a label for each token",
    "bilm": "pretrain a bidirectional language model from text files",
}
COMMAND = Command(PROG, "Train with ELMo.", EXAMPLES, SUBCOMMANDS)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command with arguments (None: the process's own); gives its status."""
    return COMMAND.run(argv)
