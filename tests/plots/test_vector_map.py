import numpy as np
import pytest

from keras_elmo.plots import sense_map
from keras_elmo.plots.vector_map import principal_components


def two_groups(n=20):
    rng = np.random.default_rng(0)
    vectors = np.concatenate([rng.normal(0, 1, (n, 8)), rng.normal(4, 1, (n, 8))])
    return vectors, ["river"] * n + ["money"] * n


def test_components_are_those_of_the_covariance():
    vectors, _ = two_groups()
    places, shares = principal_components(vectors)
    values = np.linalg.eigvalsh(np.cov(vectors.T))[::-1]
    np.testing.assert_allclose(places.var(axis=0, ddof=1), values[:2])
    np.testing.assert_allclose(shares, values[:2] / values.sum())
    np.testing.assert_allclose(places.mean(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize("vectors", [np.ones((1, 4)), np.ones((3, 1))])
def test_vectors_without_variance_lie_at_one_point(vectors, check_whole):
    places, shares = principal_components(vectors)
    np.testing.assert_array_equal(places, np.zeros((len(vectors), 2)))
    np.testing.assert_array_equal(shares, [0, 0])
    check_whole(sense_map(vectors, ["a"] * len(vectors), ["text"] * len(vectors)))


def test_each_label_has_its_colour_its_marker_and_its_number(check_whole):
    figure = sense_map(*two_groups())
    first, second = figure.axes[0].collections
    assert (first.get_facecolor() != second.get_facecolor()).any()
    assert len(first.get_paths()[0].vertices) != len(second.get_paths()[0].vertices)
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["river (20)", "money (20)"]
    assert "% of the variance" in figure.axes[0].get_ylabel()
    check_whole(figure)


def test_texts_cover_neither_each_other_nor_points(check_whole):
    vectors, labels = two_groups(60)
    figure = sense_map(vectors, labels, [f"at the bank {k}" for k in range(120)])
    axes = figure.axes[0]
    check_whole(figure)
    assert 5 < len(axes.texts) < 120
    renderer = figure.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in axes.texts]
    assert sum(a.overlaps(b) for a in boxes for b in boxes) == len(boxes)
    points = axes.transData.transform(principal_components(vectors)[0])
    assert not any(box.contains(*point) for box in boxes for point in points)


def test_texts_are_written_as_they_are():
    figure = sense_map(np.eye(2), ["a", "b"], ["$x$ and\n$y$", "z" * 50])
    assert [text.get_text() for text in figure.axes[0].texts] == ["$x$ and $y$", "z" * 31 + "…"]


def test_rare_labels_beyond_twenty_share_a_colour(check_whole):
    labels = [*range(25), *range(10)]
    figure = sense_map(np.random.default_rng(0).normal(size=(35, 3)), labels)
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(names) == 20
    assert names[-1] == "other labels (6)"
    check_whole(figure)


@pytest.mark.parametrize(
    ("vectors", "labels", "texts", "message"),
    [
        (np.zeros((0, 3)), [], None, "at least one vector"),
        ([[1.0, np.nan]], ["a"], None, "finite"),
        (np.eye(2), ["a"], None, "`labels` must be one for each of the 2"),
        (np.eye(2), ["a", "b"], ["x"], "`texts` must be one for each of the 2"),
    ],
)
def test_bad_vectors_are_errors(vectors, labels, texts, message):
    with pytest.raises(ValueError, match=message):
        sense_map(vectors, labels, texts)
