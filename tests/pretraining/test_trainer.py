import math

import keras
import numpy as np
import pytest
import tensorflow as tf
from tiny_text import held_out, shuffled_lines

from keras_elmo.language_model.perplexity import evaluate
from keras_elmo.pretraining.options import PretrainingOptions
from keras_elmo.pretraining.trainer import Trainer


@pytest.fixture
def make_trainer(make_model, tmp_path):
    def make(softmax="full", in_graph=False, dtype=None, **changes):
        options = {"steps": 60, "batch_size": 4, "window": 5, "dropout": 0.0, **changes}
        options = PretrainingOptions(**options)
        model = make_model(softmax, dropout=options.dropout, dtype=dtype)
        trainer = Trainer(model, options, shuffled_lines(tmp_path), "space")
        if not in_graph:  # Tracing takes longer than a few steps without a graph.
            trainer._step = trainer._distributed_step
        return trainer

    return make


def take(trainer, steps):
    return [trainer.step() for _ in range(steps)]


def unigram_perplexity():
    counts = np.unique([word for s in held_out() for word in [*s, b""]], return_counts=True)[1]
    shares = counts / counts.sum()
    return math.exp(-np.sum(shares * np.log(shares)))


@pytest.mark.parametrize(
    ("softmax", "resets"),
    [("adaptive", {}), ("sampled", {"resets": "random", "reset_rate": 0.5})],
)
def test_held_out_perplexity_falls_below_unigrams_in_both_directions(make_trainer, softmax, resets):
    trainer = make_trainer(softmax, in_graph=True, learning_rate=0.03, **resets)
    before = evaluate(trainer.model, held_out())
    results = take(trainer, 60)
    after = evaluate(trainer.model, held_out())
    assert after.forward < unigram_perplexity() < before.forward
    assert after.backward < unigram_perplexity() < before.backward
    assert [result.step for result in results] == list(range(1, 61))
    assert results[-1].forward < results[0].forward
    assert all(0 <= result.waited <= result.seconds for result in results)


def test_training_loss_is_the_mean_of_each_direction(make_trainer, make_model):
    trainer = make_trainer(learning_rate=1e-9)
    untrained = make_model()
    windows = next(trainer._open_pipeline())
    expected, _ = untrained.window_losses(windows, untrained.zero_states(4))
    (result,) = take(trainer, 1)
    assert result.forward == pytest.approx(float(expected.forward), rel=1e-5)
    assert result.backward == pytest.approx(float(expected.backward), rel=1e-5)


@pytest.mark.parametrize(("optimizer", "resets"), [("adamw", "random"), ("adagrad", "never")])
def test_restored_state_takes_the_same_steps(make_trainer, optimizer, resets):
    options = {"optimizer": optimizer, "resets": resets, "dropout": 0.3, "learning_rate": 0.01}
    straight = make_trainer("sampled", **options)
    take(straight, 4)
    state = straight.state()
    again = make_trainer("sampled", **options)
    take(again, 1)
    again.restore(state)
    expected, found = take(straight, 3), take(again, 3)
    for one, other in zip(expected, found, strict=True):
        assert (one.step, one.learning_rate) == (other.step, other.learning_rate)
        assert one.forward == pytest.approx(other.forward, rel=1e-5)
    one, other = straight.state(), again.state()
    assert one.keys() == other.keys()
    for name, value in one.items():
        np.testing.assert_allclose(value, other[name], atol=1e-5, err_msg=name)


def test_state_that_does_not_fit_sets_nothing(make_trainer):
    trainer = make_trainer()
    state = trainer.state()
    kernel = "bilm/CNN_proj/W_proj"
    for name, value in ((kernel, state[kernel][:-1]), (kernel, None), ("states/0", np.zeros(2))):
        wrong = {**state, "softmax/b": state["softmax/b"] + 1.0, name: value}
        if value is None:
            del wrong[name]
        with pytest.raises(ValueError, match=f"'{name}' must have shape"):
            trainer.restore(wrong)
    np.testing.assert_array_equal(trainer.state()["softmax/b"], state["softmax/b"])


def test_random_resets_begin_windows_at_their_rate(make_trainer):
    trainer = make_trainer(resets="random", reset_rate=0.25, batch_size=4000)
    first, again, other = (trainer._resets(tf.constant([1, step])).numpy() for step in (5, 5, 6))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    assert not first[:, 1:].any()
    assert first[:, 0].mean() == pytest.approx(0.25, abs=0.03)
    assert not make_trainer(resets="never")._resets(tf.constant([1, 5])).numpy().any()


def test_dropout_changes_training_and_not_evaluation(make_trainer):
    trainer, calm = make_trainer(dropout=0.5), make_trainer()
    assert evaluate(trainer.model, held_out()) == evaluate(calm.model, held_out())
    assert abs(take(trainer, 1)[0].forward - take(calm, 1)[0].forward) > 1e-4


def test_published_adagrad(make_trainer):
    trainer = make_trainer(optimizer="adagrad", softmax="full", clip_norm=1e9)
    before = np.asarray(trainer.model.softmax.b)
    assert [result.learning_rate for result in take(trainer, 2)] == pytest.approx([0.2, 0.2])
    # b -= 0.2 g / sqrt(1 + g^2): no element moves further than the rate a step.
    moved = np.abs(np.asarray(trainer.model.softmax.b) - before)
    assert 0 < moved.max() < 0.4


def test_gradients_are_clipped_by_their_global_norm(make_trainer):
    free, clipped = (make_trainer(optimizer="adagrad", clip_norm=norm) for norm in (1e9, 1e-3))
    moved = []
    for trainer in (free, clipped):
        before = trainer.state()
        take(trainer, 1)
        after = trainer.state()
        names = [name for name in before if name.startswith(("bilm", "softmax"))]
        moved.append(math.sqrt(sum(np.square(after[n] - before[n]).sum() for n in names)))
    # Near 1, Adagrad's accumulator leaves the clipped gradient as it is: 0.2 x 1e-3.
    assert moved[1] == pytest.approx(0.2e-3, rel=1e-3) and moved[0] > 0.01


def test_infinite_loss_or_weight_stops(make_trainer):
    trainer = make_trainer()
    trainer.model.softmax.b.assign(np.full(trainer.model.softmax.b.shape, np.nan))
    with pytest.raises(FloatingPointError, match=r"loss must be finite.*at step 1\b"):
        trainer.step()
    with pytest.raises(FloatingPointError, match=r"weights must be finite.*softmax.*step 1\b"):
        trainer.state()


def test_half_precision_scales_the_loss(make_trainer):
    half = make_trainer(dtype="mixed_float16", learning_rate=0.03)
    plain = make_trainer(learning_rate=0.03)
    assert isinstance(half.optimizer, keras.optimizers.LossScaleOptimizer)
    losses = [take(trainer, 3)[-1].forward for trainer in (half, plain)]
    assert losses[0] == pytest.approx(losses[1], rel=2e-2)
