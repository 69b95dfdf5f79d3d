"""The recurrence without work on padding, in inference and in training."""
