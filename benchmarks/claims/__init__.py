"""Parts of `benchmarks/paper_claims.py`: data, frozen layers, heads, the six questions, tables."""
