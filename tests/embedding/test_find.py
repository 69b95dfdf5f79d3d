import keras

from keras_elmo.embedding.elmo_embedding import ELMoEmbedding
from keras_elmo.embedding.find import elmo_layers


def test_layers_are_found_once_wherever_they_are(tiny_bilm):
    one, other = ELMoEmbedding(tiny_bilm), ELMoEmbedding(tiny_bilm)
    text = keras.Input((), dtype="string")
    inner = keras.Sequential([other, keras.layers.Dense(2)])
    model = keras.Model(text, [one(text), inner(text), one(text)])
    assert set(elmo_layers(model)) == {one, other}
    assert len(elmo_layers(model)) == 2
    assert elmo_layers(one) == [one]


def test_there_may_be_none():
    assert elmo_layers(keras.Sequential([keras.layers.Dense(1)])) == []
    assert elmo_layers(["text"]) == []
