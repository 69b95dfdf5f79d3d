"""Pretraining of a biLM from text: corpus, softmax, language model, trainer, evaluation."""
