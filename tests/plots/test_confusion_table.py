import numpy as np
import pytest
from matplotlib.colors import to_rgb

from keras_elmo.plots import confusion


def names_of(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


def counts_of(axes):
    return {text.get_position(): text.get_text() for text in axes.texts}


def test_counts_are_written_and_shares_are_the_colours(check_whole):
    figure = confusion([[1234, 0], [30, 10]], ["ham", "spam"])
    axes = figure.axes[0]
    assert counts_of(axes) == {(0, 0): "1,234", (1, 0): "0", (0, 1): "30", (1, 1): "10"}
    np.testing.assert_allclose(axes.get_images()[0].get_array(), [[1, 0], [0.75, 0.25]])
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("predicted class", "true class")
    assert "1,244 of 1,274 right (97.6%)" in figure.get_suptitle()
    colors = [to_rgb(text.get_color()) for text in axes.texts]
    assert (colors[0], colors[1]) == ((1, 1, 1), (0, 0, 0))
    check_whole(figure)


def test_names_are_text_and_long_ones_are_cut(check_whole):
    names = ["$ and $", "_hidden", "a name much longer than the table is wide"]
    figure = confusion(np.diag([1, 0, 3]), names)
    np.testing.assert_array_equal(figure.axes[0].get_images()[0].get_array(), np.diag([1, 0, 1]))
    assert names_of(figure.axes[0]) == ["$ and $", "_hidden", "a name much longer than…"]
    check_whole(figure)


@pytest.mark.parametrize("n", [5, 13])
def test_many_classes_make_a_larger_picture(n, check_whole):
    figure = confusion(np.full((n, n), 7), [f"B-class-{k}" for k in range(n)])
    assert len(figure.axes[0].texts) == n * n
    assert (figure.get_figwidth() > 6) == (n > 12)
    sizes = {text.get_fontsize() for text in figure.axes[0].texts}
    assert min(sizes) >= 6
    check_whole(figure)


def test_rare_classes_beyond_fifty_are_summed_up():
    matrix = np.diag(np.arange(1, 71))
    matrix[0, 5] = 3
    figure = confusion(matrix, range(70))
    axes = figure.axes[0]
    assert len(names_of(axes)) == 50
    assert names_of(axes)[0] == "21"  # 0 to 20 are the rarest
    assert names_of(axes)[-1] == "21 others"
    assert counts_of(axes)[49, 49] == str(sum(range(1, 22)) + 3)
    assert f"{sum(range(1, 71)):,} of {matrix.sum():,} right" in figure.get_suptitle()


@pytest.mark.parametrize(
    ("matrix", "classes", "message"),
    [
        ([[1, 2], [3, 4]], ["a"], r"shape \(2, 2\), 1 classes"),
        ([[0.5, 0.5], [0, 1]], ["a", "b"], "whole numbers"),
        ([[1, -1], [0, 1]], ["a", "b"], "smallest -1"),
    ],
)
def test_bad_tables_are_errors(matrix, classes, message):
    with pytest.raises(ValueError, match=message):
        confusion(matrix, classes)
