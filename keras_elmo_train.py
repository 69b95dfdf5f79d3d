"""Starts the `keras_elmo-train` command; `keras_elmo_launcher` tells how."""

from keras_elmo_launcher import stderr_held_back, train

__all__ = ["main", "stderr_held_back"]

main = train

if __name__ == "__main__":
    main()
