"""What every room stands on: checks of arguments, files, Keras' private names."""
