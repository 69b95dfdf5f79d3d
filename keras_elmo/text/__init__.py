"""Texts to tokens, character ids and word ids: TensorFlow ops, no Keras layer."""
