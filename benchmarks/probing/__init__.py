"""Parts of `benchmarks/probes.py`: data, frozen layers, heads, tasks."""
