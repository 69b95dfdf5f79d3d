"""Checks of a layer's arguments, by name."""

import numbers
from collections.abc import Collection
from typing import Any


def check_choice(name: str, value: Any, allowed: Collection) -> None:
    """Raises unless `value` is one of `allowed`."""
    if value not in allowed:
        raise ValueError(f"`{name}` must be one of {allowed}. Received: {name}={value!r}.")


def check_flag(name: str, value: Any) -> bool:
    """`value` as a bool; raises unless it is one."""
    import numpy as np

    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"`{name}` must be True or False. Received: {name}={value!r}.")
    return bool(value)


def check_share(name: str, value: Any) -> float:
    """`value` as a float; raises unless it is a number from 0 up to, but not, 1."""
    if not isinstance(value, numbers.Real) or not 0.0 <= float(value) < 1.0:
        raise ValueError(
            f"`{name}` must be a share, 0 <= {name} < 1. Received: {name}={value!r}. "
            "Use 0 for none."
        )
    return float(value)


def check_count(name: str, value: Any) -> int:
    """`value` as an int; raises unless it is a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise ValueError(f"`{name}` must be a whole number >= 1. Received: {name}={value!r}.")
    return int(value)
