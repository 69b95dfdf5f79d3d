"""ELMo as a Keras layer: sources, mix, outputs; the Embedder; fixed word vectors beside it."""
