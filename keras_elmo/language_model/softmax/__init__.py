"""Softmax heads over the vocabulary, shared by both directions."""
