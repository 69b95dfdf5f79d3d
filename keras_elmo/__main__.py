"""`python -m keras_elmo`: the command `keras_elmo`."""

from keras_elmo_launcher import main

if __name__ == "__main__":
    main()
