import itertools
import math
import random

import numpy as np
import pytest

from keras_elmo.pretraining.corpus import windows
from keras_elmo.pretraining.evaluation import evaluate
from keras_elmo.pretraining.files import load_language_model, save_language_model
from keras_elmo.pretraining.trainer import TrainingOptions, make_optimizer, train

PATTERNS = ("the cat sat on the mat", "the dog sat on the cat", "dog on mat", "cat sat")


def sentences(seed):
    rng = random.Random(seed)
    while True:
        yield rng.choice(PATTERNS).encode().split(b" ")


def held_out():
    return list(itertools.islice(sentences(99), 40))


def run(model, **changes):
    options = TrainingOptions(**{"steps": 60, "batch_size": 4, "window": 6, **changes})
    batches = windows(sentences(0), options.batch_size, options.window)
    return list(train(model, batches, options, report_every=20))


@pytest.mark.parametrize("softmax", ["full", "adaptive"])
def test_held_out_perplexity_falls_in_both_directions_below_unigrams(make_model, softmax):
    model = make_model(softmax)
    before = evaluate(model, held_out())
    reports = run(model, learning_rate=0.02)
    after = evaluate(model, held_out())
    counts = np.unique([word for s in held_out() for word in [*s, b""]], return_counts=True)[1]
    unigram = math.exp(-np.sum(counts / counts.sum() * np.log(counts / counts.sum())))
    assert after.forward < unigram < before.forward
    assert after.backward < unigram < before.backward
    assert [report.step for report in reports] == [20, 40, 60]
    assert reports[-1].forward < reports[0].forward
    assert reports[-1].seconds_left == 0.0


def test_rate_warms_up_and_ends_at_its_share(make_model):
    options = TrainingOptions(steps=100, learning_rate=0.01, warmup_steps=200, final_rate=0.1)
    schedule = make_optimizer(make_model(), options)._learning_rate
    rates = [float(schedule(step)) for step in (0, 5, 10, 100)]
    assert rates == pytest.approx([0.0, 0.005, 0.01, 0.001])


def test_weight_decay_is_for_matrices(make_model):
    model = make_model()
    optimizer = make_optimizer(model, TrainingOptions(steps=10))
    for variable in model.trainable_variables:
        assert optimizer._use_weight_decay(variable) == (len(variable.shape) > 1)


def test_infinite_loss_stops(make_model):
    model = make_model()
    model.softmax.b.assign(np.full(model.softmax.b.shape, np.nan))
    with pytest.raises(FloatingPointError, match="must be finite.*at step 1"):
        run(model)


def test_text_that_ends_early(make_model):
    options = TrainingOptions(steps=50, batch_size=2, window=6)
    short = windows(itertools.islice(sentences(0), 20), 2, 6)
    with pytest.raises(ValueError, match=r"must give 50 batches. Received \d+"):
        list(train(make_model(), short, options))


@pytest.mark.parametrize("softmax", ["full", "adaptive"])
def test_saved_language_model_comes_back(make_model, softmax, tmp_path):
    model = make_model(softmax)
    save_language_model(model, tmp_path)
    again = load_language_model(tmp_path)
    assert evaluate(again, held_out()) == evaluate(model, held_out())
    assert again.bilm.trainable_variables == []


def test_softmax_of_another_vocabulary_is_refused(make_model, tmp_path):
    save_language_model(make_model(), tmp_path)
    words = (tmp_path / "vocab.txt").read_text()
    (tmp_path / "vocab.txt").write_text(words + "extra\n")
    with pytest.raises(ValueError, match=r"'W' must have shape \(8, 10\).*\(8, 9\)"):
        load_language_model(tmp_path)
