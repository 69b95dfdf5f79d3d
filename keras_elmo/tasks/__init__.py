"""Models that read text and what trains them, and what their data and scores need."""
