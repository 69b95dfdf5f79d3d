"""The `keras_elmo-train` command."""
