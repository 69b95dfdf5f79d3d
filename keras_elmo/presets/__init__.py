"""Where models come from: what the package ships, what others have published, what is on disk."""
