"""Parsing of the commands' arguments: one-line errors, and checked numbers."""

import argparse
import math

from keras_elmo.cli.errors import UserError


class HelpFormatter(argparse.ArgumentDefaultsHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Shows defaults where there are any, and examples as they were typed."""

    def _get_help_string(self, action):
        if action.default in (None, False):
            return action.help
        return super()._get_help_string(action)


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that reports a fault by a UserError instead of usage and exit."""

    def __init__(self, **kwargs):
        super().__init__(**{"formatter_class": HelpFormatter, "allow_abbrev": False, **kwargs})

    def error(self, message):
        raise UserError(f"{message} (`{self.prog} --help` tells more)", prog=self.prog)


def count(text):
    """A whole number of at least 0."""
    return _whole(text, 0)


def positive_int(text):
    """A whole number of at least 1."""
    return _whole(text, 1)


def _whole(text, least):
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value < least:
        raise argparse.ArgumentTypeError(
            f"must be a whole number of at least {least}, not {text!r}"
        )
    return value


def seed(text):
    """A whole number in [0, 2**32)."""
    try:
        value = int(text)
    except ValueError:
        value = -1
    if not 0 <= value < 2**32:
        raise argparse.ArgumentTypeError(
            f"must be a whole number from 0 to {2**32 - 1}, not {text!r}"
        )
    return value


def fraction(text):
    """A number strictly between 0 and 1."""
    value = _float(text)
    if not 0.0 < value < 1.0:
        raise argparse.ArgumentTypeError(f"must be between 0 and 1, as 0.2, not {text!r}")
    return value


def share(text):
    """A number from 0 up to, but not, 1."""
    value = _float(text)
    if not 0.0 <= value < 1.0:
        raise argparse.ArgumentTypeError(f"must be at least 0 and below 1, as 0.1, not {text!r}")
    return value


def positive_float(text):
    """A finite number above 0."""
    value = _float(text)
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number above 0, not {text!r}")
    return value


def _float(text):
    try:
        return float(text)
    except ValueError:
        return math.nan


def delimiter(text):
    """One character, or the word `tab`."""
    text = "\t" if text in ("tab", "\\t") else text
    if len(text) != 1 or text in '\r\n"':
        raise argparse.ArgumentTypeError(f"must be one character or `tab`, not {text!r}")
    return text
