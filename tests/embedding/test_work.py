"""How much is computed, counted instead of timed."""

import random
import re
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_elmo import ELMoEmbedding, Embedder, Sequential
from keras_elmo.layers.char_cnn import CharCNN
from keras_elmo.layers.fast import packed_stacks

TEXTS = ["a b c d e f g h", "a", "b a b a", "", "x y"] * 4
TOKENS = 4 * (8 + 1 + 4 + 0 + 2)
CELLS = 4  # Two layers, two directions.


class Counts:
    def __init__(self):
        self.words = tf.Variable(0)
        self.rows = tf.Variable(0)

    def take(self):
        found = int(self.words), int(self.rows)
        self.words.assign(0)
        self.rows.assign(0)
        return found


@pytest.fixture
def counts(monkeypatch):
    """Words that go through the CNN and rows that go through a cell, in graphs made from now on."""
    counts, encode, make_step = Counts(), CharCNN.call, packed_stacks._parts

    def counting_call(cnn, char_ids):
        counts.words.assign_add(tf.shape(char_ids)[0])
        return encode(cnn, char_ids)

    def counting_step(*weights):
        input_gates, step = make_step(*weights)

        def counting(gates, c, m):
            counts.rows.assign_add(tf.shape(gates)[0])
            return step(gates, c, m)

        return input_gates, counting

    monkeypatch.setattr(CharCNN, "call", counting_call)
    monkeypatch.setattr(packed_stacks, "_parts", counting_step)
    packed_stacks._layer_runner.cache_clear()
    yield counts
    packed_stacks._layer_runner.cache_clear()


def test_a_call_encodes_distinct_words_and_steps_over_no_padding(counts, tiny_bilm):
    ELMoEmbedding(tiny_bilm)(TEXTS)
    assert counts.take() == (10 + 2, CELLS * (TOKENS + 2 * len(TEXTS)))


def test_calls_of_many_shapes_share_a_graph_and_leave_memory_as_it_is(tiny_bilm, monkeypatch):
    rng, made, run_layer = random.Random(7), [], packed_stacks._run_layer
    monkeypatch.setattr(
        packed_stacks, "_run_layer", lambda *given: made.append(1) or run_layer(*given)
    )
    packed_stacks._layer_runner.cache_clear()

    def call():
        rows = [["w"] * rng.randint(0, 30) for _ in range(rng.randint(1, 40))]
        tiny_bilm.embed_tokens([[*row, str(rng.random())] for row in rows])

    for _ in range(50):
        call()
    before = resident_megabytes()
    for _ in range(150):
        call()
    assert resident_megabytes() - before < 20
    assert len(made) == 1  # For all layers and shapes.
    packed_stacks._layer_runner.cache_clear()


def resident_megabytes():
    status = Path("/proc/self/status")
    if not status.is_file():
        pytest.skip("the system does not tell a process's memory in /proc")
    return int(re.search(r"VmRSS:\s+(\d+)", status.read_text())[1]) / 1024


def test_fit_does_so_batch_by_batch(counts, tiny_bilm):
    model = Sequential([ELMoEmbedding(tiny_bilm), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    counts.take()
    model.fit(TEXTS, np.zeros(len(TEXTS)), batch_size=5, shuffle=False, verbose=0)
    assert counts.take() == (4 * (10 + 2), CELLS * (TOKENS + 2 * len(TEXTS)))


def test_an_embedder_encodes_a_word_once_in_its_life(counts, tiny_bilm):
    embedder = Embedder(ELMoEmbedding(tiny_bilm, output="elmo"))
    embedder.embed(TEXTS)
    assert counts.take() == (10 + 2, CELLS * (TOKENS + 2 * len(TEXTS)))
    embedder.embed([*TEXTS, "z z"])
    assert counts.take() == (1, CELLS * (TOKENS + 2 + 2 * (len(TEXTS) + 1)))
