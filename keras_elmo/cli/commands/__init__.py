"""One command a file: options, checks, handing over."""
