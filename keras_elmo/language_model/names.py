"""The files of a language model's directory; imports nothing."""

VOCABULARY = "vocab.txt"
SOFTMAX = "softmax.hdf5"
MODEL_FILES = ("options.json", "weights.hdf5", VOCABULARY, SOFTMAX)
