"""The biLM: its shape, its files, its computation."""
