import numpy as np
import pytest


@pytest.fixture(scope="session")
def random_weights():
    """Gives every weight of a head seeded random values; returns the head."""

    def fill(softmax, seed=0, scale=1.0):
        rng = np.random.default_rng(seed)
        for variable in softmax.named_variables().values():
            variable.assign(rng.normal(0.0, scale, variable.shape))
        return softmax

    return fill


@pytest.fixture(scope="session")
def make_hidden():
    """Seeded vectors `(n, dim)` to predict from."""

    def make(n=6, dim=8):
        return np.random.default_rng(1).normal(size=(n, dim)).astype(np.float32)

    return make
