"""The layers of the biLM and the mix over its outputs; they know no string and no file."""
