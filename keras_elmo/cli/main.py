"""`keras_elmo`: uses what is trained, from the command line."""

from keras_elmo.cli.command import Command
from keras_elmo.cli.commands import (
    convert,
    download,
    embed,
    evaluate,
    export,
    presets,
    score,
    senses,
    substitutes,
)

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
SUBCOMMANDS = (embed, evaluate, score, substitutes, senses, presets, download, convert, export)
COMMAND = Command(PROG, "Use trained ELMo models.", EXAMPLES, SUBCOMMANDS)


def main(argv=None):
    """Runs the command with a list of arguments (None: the process's own); gives its status."""
    return COMMAND.run(argv)
