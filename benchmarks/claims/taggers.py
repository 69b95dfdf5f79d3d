"""Taggers over frozen layers in memory: `keras_elmo.Tagger`, with ELMo and GloVe where wanted."""

import keras
import numpy as np

import keras_elmo
from claims.heads import Found, TokenModel, Tokens, fit_tokens, mixes_of


def fit_tagger(study, key, seed, number, epochs, shape):
    """Labels of the test sentences and mixes of a TokenModel.

    Returns:
        Found.
    """
    task = study.task(key)
    classes = sorted({label for row in task.train.labels for label in row})
    rows = task.train.draw(number, seed)
    parts = [
        _tokens(study, known, examples, classes)
        for known, examples in (
            ([study.layers(key).train[row] for row in rows], task.train.take(rows)),
            (study.layers(key).test, task.test),
        )
    ]
    keras.utils.set_random_seed(seed)
    model = TokenModel(len(classes), **shape)
    found = fit_tokens(model, *parts, seed, epochs)
    labels = [[classes[number] for number in row] for row in found]
    return Found(labels, mixes_of(model))


def _tokens(study, known, examples, classes):
    words = sorted({word for sentence in examples.inputs for word in sentence})
    layer = keras_elmo.GloVeEmbedding(study.glove())
    vectors = dict(zip(words, layer([words]).numpy()[0], strict=True))
    number = {label: index for index, label in enumerate(classes)}
    beside = [np.stack([vectors[word] for word in sentence]) for sentence in examples.inputs]
    # A label that training lacks counts as wrong, whatever the number.
    targets = [np.array([number.get(label, 0) for label in row]) for row in examples.labels]
    return Tokens(known, beside, targets)
