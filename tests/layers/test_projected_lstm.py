import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.layers.lstm_stack import LSTMStack
from keras_elmo.layers.projected_lstm import ProjectedLSTM

BATCH, TIME, INPUT, DIM, PROJ = 3, 6, 4, 5, 4


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def make(cell_clip=0.5, proj_clip=0.3):
    layer = ProjectedLSTM(DIM, PROJ, cell_clip, proj_clip)
    layer.build((None, None, INPUT))
    rng = np.random.default_rng(4)
    for variable in layer.variables:
        variable.assign(rng.normal(size=variable.shape))
    return layer


def by_hand(layer, x, c, m):
    """The docstring's formula for one row, in NumPy; returns all outputs and the last state."""
    kernel, bias, projection = (np.asarray(w) for w in (layer.W_0, layer.B, layer.W_P_0))
    outputs = []
    for x_t in x:
        i, j, f, o = np.split(np.concatenate([x_t, m]) @ kernel + bias, 4)
        c = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(j)
        c = np.clip(c, -layer.cell_clip, layer.cell_clip) if layer.cell_clip else c
        m = (sigmoid(o) * np.tanh(c)) @ projection
        m = np.clip(m, -layer.proj_clip, layer.proj_clip) if layer.proj_clip else m
        outputs.append(m)
    return np.array(outputs).reshape(-1, PROJ), c, m


def inputs():
    return np.random.default_rng(5).normal(size=(BATCH, TIME, INPUT)).astype(np.float32)


@pytest.mark.parametrize("clips", [(0.5, 0.3), (None, None), (3.0, None)])
def test_equals_formula_at_each_length(clips):
    layer = make(*clips)
    x = inputs()
    lengths = [TIME, 2, 0]
    outputs, (c, m) = layer(x, lengths=tf.constant(lengths))
    for row, length in enumerate(lengths):
        expected, last_c, last_m = by_hand(layer, x[row, :length], np.zeros(DIM), np.zeros(PROJ))
        np.testing.assert_allclose(outputs[row, :length], expected, atol=1e-5)
        np.testing.assert_array_equal(outputs[row, length:], 0.0)
        np.testing.assert_allclose(c[row], last_c, atol=1e-5)
        np.testing.assert_allclose(m[row], last_m, atol=1e-5)


def test_clips_do_clip():
    x = inputs()
    clipped, (c, _) = make(0.5, 0.3)(x)
    free, (free_c, _) = make(None, None)(x)
    assert np.abs(clipped).max() == pytest.approx(0.3) and np.abs(free).max() > 0.3
    assert np.abs(c).max() == pytest.approx(0.5) and np.abs(free_c).max() > 0.5


def test_two_windows_with_state_equal_one():
    layer = make()
    x = inputs()
    whole, last = layer(x)
    first, state = layer(x[:, :2])
    second, state = layer(x[:, 2:], initial_state=state)
    np.testing.assert_allclose(np.concatenate([first, second], 1), whole, atol=1e-6)
    np.testing.assert_allclose(state[0], last[0], atol=1e-6)
    np.testing.assert_allclose(state[1], last[1], atol=1e-6)


def resets_at(*places):
    resets = np.zeros((BATCH, TIME), bool)
    for place in places:
        resets[place] = True
    return tf.constant(resets)


def test_reset_starts_from_zero():
    layer = make()
    x = inputs()
    outputs, _ = layer(x, resets=resets_at((1, 3)))
    alone, _ = layer(x[:, 3:])
    untouched, _ = layer(x)
    np.testing.assert_allclose(outputs[1, 3:], alone[1], atol=1e-6)
    np.testing.assert_allclose(outputs.numpy()[[0, 2]], untouched.numpy()[[0, 2]], atol=1e-6)


@pytest.mark.parametrize("clips", [(0.5, 0.3), (None, None)])
def test_window_and_its_gradient_equal_the_loop_and_automatic_differentiation(clips):
    layer = make(*clips)
    x, state = tf.constant(inputs()), (tf.ones((BATCH, DIM)) * 0.2, -tf.ones((BATCH, PROJ)) * 0.1)
    weights = tf.constant(np.random.default_rng(6).normal(size=(BATCH, TIME, PROJ)), tf.float32)
    resets = resets_at((1, 0), (2, 3))

    def by_loop():
        """The same, row by row and piece by piece, through the loop."""
        rows = []
        for row, starts in enumerate(([], [0], [3])):
            outputs, carried = [], tuple(part[row : row + 1] for part in state)
            for begin, end in zip([0, *starts], [*starts, TIME], strict=True):
                if begin in starts:
                    carried = None
                piece, carried = layer(x[row : row + 1, begin:end], initial_state=carried)
                outputs.append(piece)
            rows.append((tf.concat(outputs, axis=1), *carried))
        outputs, c, m = (tf.concat(parts, axis=0) for parts in zip(*rows, strict=True))
        return outputs, (c, m)

    found = []
    for run in (lambda: layer(x, initial_state=state, resets=resets), by_loop):
        sources = [x, *state, *(variable.value for variable in layer.trainable_variables)]
        with tf.GradientTape() as tape:
            tape.watch([x, *state])
            outputs, (c, m) = run()
            loss = tf.reduce_sum(outputs * weights) + tf.reduce_sum(c) - 2.0 * tf.reduce_sum(m)
        gradients = tape.gradient(loss, sources)
        found.append([outputs, c, m, *map(tf.convert_to_tensor, gradients)])
    assert len(found[0]) == 3 + 3 + 3
    for window, loop in zip(*found, strict=True):
        assert np.abs(loop).max() > 1e-3
        np.testing.assert_allclose(window, loop, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("skip", [True, False])
def test_stack_reads_the_layer_below_and_skips_from_the_second_on(skip):
    stack = LSTMStack(3, DIM, PROJ, 3.0, 3.0, use_skip_connections=skip)
    stack.build()
    x = inputs()
    outputs, states = stack(x)
    below = x
    for k, lstm in enumerate(stack.lstms):
        expected, state = lstm(below)
        below = expected + below if skip and k > 0 else expected
        np.testing.assert_allclose(outputs[k], below, atol=1e-6)
        np.testing.assert_allclose(states[k][0], state[0], atol=1e-6)


def test_stack_drops_inputs_as_a_function_of_the_seed():
    stack = LSTMStack(2, DIM, PROJ, dropout=0.5)
    stack.build()
    x = inputs()
    calm = stack(x)[0][1]
    one, again, other = (stack(x, seed=tf.constant([1, n]))[0][1] for n in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    for different in (calm, other):
        assert np.abs(one - different).max() > 1e-3
    bare = LSTMStack(2, DIM, PROJ)
    bare.build()
    np.testing.assert_array_equal(bare(x, seed=tf.constant([1, 1]))[0][1], bare(x)[0][1])
