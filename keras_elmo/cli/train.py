"""`keras_elmo-train`: trains a classifier, a tagger or a biLM from the command line."""

from keras_elmo.cli.command import Command
from keras_elmo.cli.commands import bilm, classifier, tagger

PROG = "keras_elmo-train"
EXAMPLES = f"""\
  {PROG} classifier --output spam-model
  {PROG} classifier spam.csv --text-column v2 --label-column v1 --encoding latin-1 --output DIR
  {PROG} tagger tagged.tsv --label-column 2 --output DIR
  {PROG} bilm corpus.txt --output my-bilm"""
COMMAND = Command(PROG, "Train with ELMo.", EXAMPLES, (classifier, tagger, bilm))


def main(argv=None):
    """Runs the command with a list of arguments (None: the process's own); gives its status."""
    return COMMAND.run(argv)
