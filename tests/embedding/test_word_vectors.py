import numpy as np
import pytest

from keras_elmo.embedding.word_vectors import WordVectors


def test_words_have_their_vectors():
    vectors = WordVectors(["to", "be"], [[1, 2, 3], [4, 5, 6]])
    assert (len(vectors), vectors.dim, vectors.words) == (2, 3, ("to", "be"))
    assert "to" in vectors
    assert "or" not in vectors
    assert vectors.vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors["be"], [4, 5, 6])
    with pytest.raises(KeyError):
        vectors["or"]


@pytest.mark.parametrize("words", [[], ["to", "to"], ["to", ""]])
def test_words_that_are_no_set_raise(words):
    with pytest.raises(ValueError, match="`words` must be different words, none of them empty"):
        WordVectors(words, np.zeros((len(words), 2)))


@pytest.mark.parametrize("shape", [(2,), (3, 2), (2, 0)])
def test_matrix_of_another_shape_raises(shape):
    with pytest.raises(ValueError, match=r"`vectors` must have shape \(2, dim\)"):
        WordVectors(["to", "be"], np.zeros(shape))


def test_value_that_is_not_finite_raises():
    with pytest.raises(ValueError, match="`vectors` must be finite. Received: 'be'"):
        WordVectors(["to", "be"], [[1, 2], [np.nan, 0]])
