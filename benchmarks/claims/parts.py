"""The six questions: each a function of a Study and a task to rows of scores, one a seed.

What it gives is a dict of table to row to column to a list of numbers.
"""

import numpy as np

from claims import amount, probes
from claims.data import TITLES, TOKENS
from claims.heads import fit_texts
from claims.taggers import fit_tagger

SCORES, WEIGHTS = "scores", "weights"
PLACES = {  # what stands at the LSTM's input, and beside its output
    "GloVe only": (("glove",), ()),
    "ELMo at the input": (("glove", "elmo"), ()),
    "ELMo at the output": (("glove",), ("elmo",)),
    "at both": (("glove", "elmo"), ("elmo",)),
}
VECTORS = {"GloVe": PLACES["GloVe only"], "ELMo": (("elmo",), ())}
VECTORS["both"] = PLACES["ELMo at the input"]
UNITS = 64
PENALTIES = (0, 0.001, 0.01, 0.1, 1)


def mix(study, key):
    """Learned layer weights, equal ones, the top layer alone, the token vector alone."""
    kinds = _kinds_of_mix(study.bilm.num_layers)
    scores = {
        name: [_linear(study, key, seed, kind) for seed in study.seeds]
        for name, kind in kinds.items()
    }
    learned = [mixes[0] for _, mixes in scores["learned"]]
    return {
        SCORES: {
            _row(study, key): {name: [score for score, _ in of] for name, of in scores.items()}
        },
        WEIGHTS: {TITLES[key]: _weights(learned)},
    }


def place(study, key):
    """ELMo nowhere, at the input of a tagger's LSTM, at its output, at both."""
    return _placed_table(study, key, PLACES)


def glove(study, key):
    """GloVe alone, ELMo alone, both at the input of a tagger's LSTM."""
    return _placed_table(study, key, VECTORS)


def layers(study, key):
    """Linear probes of each layer alone, and of all side by side."""
    probe = probes.senses if key == "senses" else probes.tags
    columns = {}
    for seed in study.seeds:
        for name, score in probe(study, seed).items():
            columns.setdefault(name, []).append(score)
    return {SCORES: {f"{TITLES[key]}, accuracy": columns}}


def regularization(study, key):
    """The L2 penalty on s: the score, and the weights that are learned under it."""
    scores, weights = {}, {}
    for l2 in PENALTIES:
        found = [_linear(study, key, seed, {"l2": float(l2)}) for seed in study.seeds]
        scores[f"{l2:g}"] = [score for score, _ in found]
        weights[f"{TITLES[key]}, l2 = {l2:g}"] = _weights([mixes[0] for _, mixes in found])
    return {SCORES: {_row(study, key): scores}, WEIGHTS: weights}


PARTS = {
    "mix": (mix, ("sms", "subj", "pos", "ner")),
    "place": (place, TOKENS),
    "glove": (glove, TOKENS),
    "amount": (amount.amount, ("sms", "subj", "pos", "ner")),
    "layers": (layers, ("pos", "senses")),
    "regularization": (regularization, ("subj", "pos")),
}


def _kinds_of_mix(number):
    first, last = np.eye(number)[[0, -1]].tolist()
    return {
        "learned": {},
        "equal": {"fixed_scalars": [0.0] * number},
        "top layer": {"fixed_weights": last},
        "token vector": {"fixed_weights": first},
    }


def _linear(study, key, seed, options):
    """Score and mixes of the head of the text tasks, or of a linear head over tokens."""

    def fit():
        task, sizes = study.task(key), study.sizes
        if key in TOKENS:
            shape = {"at_input": ("elmo",), "mix": options}
            found = fit_tagger(study, key, seed, sizes.tag_sentences, sizes.tag_epochs, shape)
        else:
            found = fit_texts(study.layers(key), task, seed, sizes.text_epochs, options)
        return _main_score(task, found.labels), found.mixes

    return study.once(("linear", key, seed, repr(_without_zeros(options))), fit)


def _placed_table(study, key, places):
    columns = {
        name: [_placed(study, key, seed, *where) for seed in study.seeds]
        for name, where in places.items()
    }
    return {SCORES: {_row(study, key): columns}}


def _placed(study, key, seed, at_input, at_output):
    """Score of a tagger with an LSTM."""

    def fit():
        shape = {"at_input": at_input, "at_output": at_output, "units": UNITS}
        sizes = study.sizes.placed_sentences, study.sizes.placed_epochs
        return _main_score(study.task(key), fit_tagger(study, key, seed, *sizes, shape).labels)

    return study.once(("placed", key, seed, at_input, at_output), fit)


def _main_score(task, labels):
    return next(iter(task.scores(labels).values()))


def _row(study, key):
    return f"{TITLES[key]}, {next(iter(study.task(key).measures))}"


def _weights(mixes):
    """Columns of the layer weights and gamma of one mix a seed."""
    names = ["token vector", *(f"layer {index}" for index in range(1, len(mixes[0]["s"])))]
    columns = {name: [found["s"][index] for found in mixes] for index, name in enumerate(names)}
    return columns | {"gamma": [found["gamma"] for found in mixes]}


def _without_zeros(options):
    return {name: value for name, value in options.items() if value}
