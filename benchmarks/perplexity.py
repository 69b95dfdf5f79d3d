"""Held-out perplexity of a preset directory, by the full vocabulary's probabilities.

    python3 benchmarks/perplexity.py held-out.txt.gz                # the shipped english-small
    python3 benchmarks/perplexity.py held-out.txt.gz --model my-bilm

Each sentence starts from zero state; targets are its words and its end, words outside the
vocabulary count as one unknown word; perplexity is e to the mean nats.
"""

import argparse
import time

from keras_elmo import presets
from keras_elmo.pretraining.corpus import read_sentences
from keras_elmo.pretraining.evaluation import evaluate
from keras_elmo.pretraining.files import load_language_model


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("text", nargs="+", help="one sentence a line, plain or .gz")
    parser.add_argument("--model", default=str(presets.preset_directory("english-small")))
    args = parser.parse_args()
    model = load_language_model(args.model)
    started = time.perf_counter()
    found = evaluate(model, read_sentences(args.text, model.bilm.tokenizer or "space"))
    print(
        f"forward {found.forward:.2f}, backward {found.backward:.2f}, combined "
        f"{found.combined:.2f}\n{found.sentences:,} sentences, {found.tokens:,} targets a "
        f"direction, vocabulary {len(model.vocabulary):,}, unknown {found.unknown_share:.2%} of "
        f"the words, {time.perf_counter() - started:.0f} seconds"
    )


if __name__ == "__main__":
    main()
