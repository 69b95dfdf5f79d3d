"""A label for each token."""
