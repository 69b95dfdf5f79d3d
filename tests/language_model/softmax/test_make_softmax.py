import numpy as np
import pytest

from keras_elmo.language_model.softmax.make_softmax import SOFTMAXES, make_softmax
from keras_elmo.language_model.softmax.sampled import SampledSoftmax


@pytest.mark.parametrize("kind", SOFTMAXES)
def test_uniform_softmax_has_a_perplexity_of_its_size(kind, make_hidden):
    softmax = make_softmax(kind, 50, 8)
    for variable in softmax.named_variables().values():
        variable.assign(np.zeros(variable.shape))
    loss = softmax(make_hidden(50), targets=np.arange(50, dtype=np.int32))
    np.testing.assert_allclose(np.exp(np.mean(loss)), 50.0, rtol=1e-6)


@pytest.mark.parametrize("kind", ["adaptive", "full"])
def test_exact_heads_do_not_depend_on_the_seed(kind, random_weights, make_hidden):
    softmax = random_weights(make_softmax(kind, 20, 8))
    h, targets = make_hidden(20), np.arange(20, dtype=np.int32)
    seeded = softmax(h, targets=targets, seed=np.array([1, 2], np.int32))
    np.testing.assert_array_equal(seeded, softmax(h, targets=targets))


def test_kinds_and_arguments():
    assert SOFTMAXES == ("adaptive", "full", "sampled")
    assert [make_softmax(kind, 9, 8).kind for kind in SOFTMAXES] == list(SOFTMAXES)
    softmax = make_softmax("sampled", 9, 8, n_samples=4)
    assert isinstance(softmax, SampledSoftmax) and softmax.n_samples == 4


def test_unknown_kind():
    with pytest.raises(ValueError, match="`softmax` must be one of .*softmax='hierarchical'"):
        make_softmax("hierarchical", 9, 8)
