import dataclasses

import pytest

from keras_elmo.pretraining.options import PretrainingOptions


def test_what_others_decide_is_filled_in_and_what_has_no_meaning_stays_none():
    usual = PretrainingOptions()
    assert (usual.learning_rate, usual.schedule, usual.weight_decay) == (2e-3, "cosine", 0.01)
    assert (usual.warmup_steps, usual.epochs, usual.vocabulary_size) == (200, 1.0, 20_000)
    assert (usual.reset_rate, usual.held_out_sentences) == (None, None)
    published = PretrainingOptions(optimizer="adagrad", resets="random", steps=5)
    assert (published.learning_rate, published.schedule) == (0.2, "constant")
    assert (published.warmup_steps, published.weight_decay) == (None, None)
    assert (published.reset_rate, published.epochs) == (0.1, None)
    assert dataclasses.replace(published, seed=2).steps == 5


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"optimizer": "sgd"}, r"`optimizer` must be one of \('adamw', .*Received: .*'sgd'"),
        ({"batch_size": 0}, "`batch_size` must be a whole number of at least 1"),
        ({"learning_rate": 0}, "`learning_rate` must be a number above 0"),
        ({"dropout": 1}, "`dropout` must be .* below 1"),
        ({"epochs": float("nan")}, "`epochs` must be a number above 0"),
        ({"steps": 3, "epochs": 1}, "`epochs` has a meaning without `steps` only. Received: epo"),
        ({"patience": 2}, "`patience` has a meaning with `held_out` only"),
        ({"held_out_sentences": 2}, "with `held_out` only"),
        ({"init_vocabulary": "a.txt"}, "with `init_from` only"),
        ({"reset_rate": 0.5}, "with `resets` random only. Received: .*resets='sentence'"),
        ({"optimizer": "adagrad", "warmup_steps": 5}, "with `schedule` cosine only"),
        ({"optimizer": "adam", "weight_decay": 0.1}, "with `optimizer` adamw only"),
        ({"vocabulary": "v", "vocabulary_size": 9}, "without `vocabulary` only"),
    ],
)
def test_values_out_of_range_or_without_effect(values, message):
    with pytest.raises(ValueError, match=message):
        PretrainingOptions(**values)
