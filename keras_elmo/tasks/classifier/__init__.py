"""A label for each text."""
