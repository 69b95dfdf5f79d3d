import types

import numpy as np
import pytest

from keras_elmo.plots import learning_curves

EPOCHS = {
    "loss": [0.7, 0.4, 0.3],
    "accuracy": [0.5, 0.8, 0.9],
    "val_loss": [0.6, 0.5, 0.4],
    "val_accuracy": [0.6, 0.7, 0.75],
    "learning_rate": [0.1, 0.1, 0.1],
}


def recorded(n=100):
    """What a MixHistory holds after two epochs of n / 2 steps."""
    metrics = {"loss": list(np.linspace(1, 0.1, n)), "accuracy": list(np.linspace(0.5, 1, n))}
    epochs = {"loss": [0.7, 0.3], "accuracy": [0.6, 0.9], "val_accuracy": [0.6, 0.8]}
    return types.SimpleNamespace(
        steps=list(range(1, n + 1)), metrics=metrics, history=epochs, epoch_ends=[n // 2, n]
    )


def lines_of(axes):
    return {line.get_label(): line.get_xydata().tolist() for line in axes.get_lines()}


def test_epochs_are_drawn_from_a_dict_and_from_a_history(check_whole):
    for history in (EPOCHS, types.SimpleNamespace(history=EPOCHS)):
        figure = learning_curves(history, loss_unit="nats")
        loss, accuracy = figure.axes
        assert lines_of(loss)["training"] == [[1, 0.7], [2, 0.4], [3, 0.3]]
        assert lines_of(accuracy)["validation"] == [[1, 0.6], [2, 0.7], [3, 0.75]]
        assert (loss.get_xlabel(), loss.get_ylabel()) == ("epoch", "loss (nats)")
        assert accuracy.get_ylabel() == "accuracy (share right)"
        check_whole(figure)
        assert [text.get_text() for text in figure.legends[0].get_texts()] == [
            "training",
            "validation",
        ]


def test_steps_and_ends_of_epochs_are_drawn_from_records(check_whole):
    figure = learning_curves(recorded())
    loss, accuracy = figure.axes
    drawn = lines_of(accuracy)
    assert loss.get_xlabel() == "step"
    assert drawn["training, mean of the epoch"] == [[50, 0.6], [100, 0.9]]
    assert drawn["validation"] == [[50, 0.6], [100, 0.8]]
    assert len(drawn["training"]) == 100
    check_whole(figure)


def test_a_training_that_ended_in_its_first_epoch_has_its_steps(check_whole):
    history = recorded(1)
    history.history, history.epoch_ends = {}, []
    figure = learning_curves(history)
    assert len(figure.axes) == 2
    check_whole(figure)


@pytest.mark.parametrize("n", [1, 3])
def test_every_measure_has_a_panel(n, check_whole):
    names = ["accuracy", "loss", "f1_score", "top_k_accuracy"][1 - (n > 1) :][:n]
    figure = learning_curves({name: [0.5, 0.6] for name in names})
    assert len(figure.axes) == n
    assert figure.axes[0].get_ylabel() == "loss"
    check_whole(figure)


@pytest.mark.parametrize("history", [{"loss": []}, {"lr": [0.1]}])
def test_nothing_to_draw_is_an_error(history):
    with pytest.raises(ValueError, match="at least one epoch or step"):
        learning_curves(history)
