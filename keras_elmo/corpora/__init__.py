"""Whole corpora: text files in, a file of vectors out, in memory that does not grow with them."""
