"""What scikit-learn makes of the same examples without a biLM."""

import numpy as np
from probing.tagging import Tagged, hand_feature_tags
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline, make_union


def tf_idf():
    """TF-IDF of word 1-2-grams and character 2-5-grams, balanced logistic regression."""
    return make_pipeline(
        make_union(
            TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),
            TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True),
        ),
        LogisticRegression(C=10, class_weight="balanced", max_iter=1000),
    )


def tags_by_hand_features(train, test):
    """Labels for the sentences of `test`, by a linear model on words, affixes, shapes, neighbours.

    Args:
        train: Examples of tagged sentences.
        test: the same; its labels are not read.

    Returns:
        A list of labels for each sentence of `test`.
    """
    known, asked = _tagged(train), _tagged(test)
    flat = hand_feature_tags(known, np.arange(len(known.tags)), asked)
    ends = np.cumsum([len(sentence) for sentence in test.inputs])
    return [part.tolist() for part in np.split(flat, ends[:-1])]


def _tagged(examples):
    lengths = [len(sentence) for sentence in examples.inputs]
    flat = np.array([label for row in examples.labels for label in row])
    return Tagged(examples.inputs, flat, np.repeat(np.arange(len(lengths)), lengths))
