"""What `inference.py` measures, each in a process of its own."""
