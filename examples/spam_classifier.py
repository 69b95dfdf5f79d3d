"""Spam or not? An ELMo layer and two Dense layers, trained for one epoch on SMS messages.

The Kaggle file (https://www.kaggle.com/datasets/uciml/sms-spam-collection-dataset) holds a label
in column v1 and a text in column v2. As in the well-known tutorial, the first 80 % of its rows are
for training and the others for the test:

    python3 examples/spam_classifier.py --data spam.csv

Without --data the sample that the package ships is used.
"""

import argparse

import keras
import pandas as pd

import keras_elmo


def read(path):
    """Texts, and 1 for spam or 0 for ham."""
    if path is None:
        texts, labels = keras_elmo.load_sms_sample()
        table = pd.DataFrame({"v1": labels, "v2": texts})
    else:
        table = pd.read_csv(path, encoding="latin-1")
    return table["v2"], (table["v1"] == "spam").astype(int)


def build():
    """Texts -> mean ELMo vector -> Dense -> probability of spam."""
    model = keras_elmo.Sequential(
        [
            keras_elmo.ELMoEmbedding(),
            keras.layers.Dense(256, activation="relu"),
            keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
    return model


def main(argv=None):
    """Trains, and prints and returns the accuracy on the test part."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", metavar="spam.csv", help="default: the package's sample")
    parser.add_argument("--seed", type=int, default=0, help="of weights and shuffling (0)")
    args = parser.parse_args(argv)
    keras.utils.set_random_seed(args.seed)

    texts, labels = read(args.data)
    n_train = int(len(texts) * 0.8)
    model = build()
    model.fit(texts[:n_train], labels[:n_train], epochs=1, batch_size=60, verbose=2)
    _, accuracy = model.evaluate(texts[n_train:], labels[n_train:], verbose=0)
    print(f"test accuracy: {accuracy:.4f} ({len(texts) - n_train} messages)")
    return accuracy


if __name__ == "__main__":
    main()
