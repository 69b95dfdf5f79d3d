"""Sources: tokens in, all layers and the mask out (`num_layers`, `output_dim`, `call(tokens)`)."""
