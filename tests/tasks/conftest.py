"""Texts with labels, in every container that users hold them in."""

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

TEXTS = ["free entry now", "ok lar", "see you at 8", "win cash now"]


def containers(texts):
    """The same texts in everything that users hold them in (U09)."""
    bytestrings = [text.encode() for text in texts]
    return {
        "list": list(texts),
        "tuple": tuple(texts),
        "object array": np.array(texts, object),
        "column array": np.array(texts, object)[:, None],
        "<U array": np.array(texts),
        "S array": np.array(bytestrings),
        "bytes array": np.array(bytestrings, object),
        "object series": pd.Series(texts, dtype=object),
        "string series": pd.Series(texts, dtype="string"),
        "default series": pd.Series(texts, index=range(10, 10 + len(texts))),
        "frame": pd.DataFrame({"text": texts}),
        "tensor": tf.constant(texts),
        "column tensor": tf.constant(texts)[:, None],
    }


@pytest.fixture(params=list(containers(TEXTS)))
def container(request):
    """The four texts in one of the containers."""
    return containers(TEXTS)[request.param]


@pytest.fixture
def texts():
    """The four texts as a list."""
    return list(TEXTS)
