import numpy as np
import pytest

from keras_elmo.plots import layer_weights


def test_bars_of_one_set_of_weights(check_whole):
    figure = layer_weights([0.2, 0.5, 0.3], gamma=1.25)
    axes = figure.axes[0]
    assert [bar.get_height() for bar in axes.patches] == [0.2, 0.5, 0.3]
    assert [text.get_text() for text in axes.texts] == ["0.200", "0.500", "0.300"]
    assert "gamma 1.250" in figure.get_suptitle()
    assert axes.get_lines()[0].get_ydata() == pytest.approx([1 / 3] * 2)
    check_whole(figure)


def test_lines_over_training_with_gamma_below(check_whole):
    weights = np.array([[0.3, 0.7], [0.4, 0.6], [0.5, 0.5]])
    figure = layer_weights(weights, ["$x$", "_y"], gamma=[1.0, 1.1, 1.2], steps=[10, 20, 30])
    top, bottom = figure.axes
    first, second, mean = top.get_lines()
    assert first.get_xydata().tolist() == [[10, 0.3], [20, 0.4], [30, 0.5]]
    assert second.get_linestyle() != first.get_linestyle()
    assert mean.get_ydata() == pytest.approx([0.5] * 2)
    names = [text.get_text() for text in top.get_legend().get_texts()]
    assert names == ["$x$", "_y", "plain mean"]
    assert bottom.get_lines()[0].get_ydata().tolist() == [1.0, 1.1, 1.2]
    assert bottom.get_xlabel() == "step"
    check_whole(figure)


def test_steps_count_from_one_and_gamma_may_be_absent(check_whole):
    figure = layer_weights([[0.5, 0.5]])
    assert len(figure.axes) == 1
    assert figure.axes[0].get_lines()[0].get_xydata().tolist() == [[1, 0.5]]
    assert figure.axes[0].get_lines()[0].get_marker() == "o"  # a point: a line would be nothing
    check_whole(figure)


@pytest.mark.parametrize(
    ("weights", "options", "message"),
    [
        (np.ones((2, 2, 3)), {}, "one at a time"),
        ([0.5, 0.5], {"names": ["a"]}, "one for each of the 2 layers"),
        ([[0.5, 0.5]], {"gamma": [1.0, 2.0]}, "`gamma` must be one number for each of the 1 steps"),
        ([[0.5, 0.5]], {"steps": 3}, "`steps` must be"),
    ],
)
def test_shapes_that_do_not_fit_are_errors(weights, options, message):
    with pytest.raises(ValueError, match=message):
        layer_weights(weights, **options)


@pytest.mark.parametrize("weights", [[0.5, float("nan")], [[0.5, 0.5], [1.0, 1.0]]])
def test_what_are_no_weights_of_a_mix_is_told(weights):
    with pytest.raises(ValueError, match="finite and have the sum 1"):
        layer_weights(weights)
