"""The biLM's features, computed once."""
