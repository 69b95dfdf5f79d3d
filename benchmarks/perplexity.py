"""Held-out perplexity of a language model, and the seconds that it takes.

    python3 benchmarks/perplexity.py held-out.txt.gz                # the shipped english-small
    python3 benchmarks/perplexity.py held-out.txt.gz --model my-bilm

`keras_elmo evaluate` tells the same without the time, in other formats too.
"""

import argparse
import time

import keras_elmo
from keras_elmo.language_model.results import DEFINITION
from keras_elmo.pretraining.corpus import read_lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("text", nargs="+", help="one sentence a line, plain or .gz")
    parser.add_argument("--model", default="english-small", help="preset or directory")
    args = parser.parse_args()
    model = keras_elmo.LanguageModel.load(args.model)
    started = time.perf_counter()
    found = model.perplexity(read_lines(args.text))
    print(
        f"forward {found.forward:.2f}, backward {found.backward:.2f}, combined "
        f"{found.combined:.2f}\n{found.sentences:,} sentences, {found.tokens:,} targets a "
        f"direction, vocabulary {len(model.vocabulary):,}, unknown {found.unknown_share:.2%} of "
        f"the words, {time.perf_counter() - started:.0f} seconds\n{DEFINITION}"
    )


if __name__ == "__main__":
    main()
