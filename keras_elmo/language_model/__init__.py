"""A biLM with its softmax: what pretraining trains, its files, its perplexity."""
