import argparse
import dataclasses

import pytest

from keras_elmo.basics import options


@dataclasses.dataclass(frozen=True)
class Recipe:
    colour: str = options.option("red", "of the sauce", choices=("red", "green"))
    spoons: int | None = options.option(None, "of sugar", type=options.positive_int)


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (options.count, ["0", 7], ["-1", "1.5", True, 2.5, "x"]),
        (options.positive_int, ["1"], ["0"]),
        (options.seed, ["0", 2**32 - 1], ["-1", 2**32]),
        (options.fraction, ["0.2"], ["0", "1", "nan"]),
        (options.share, ["0", 0.9], ["1", -0.1]),
        (options.positive_float, ["1e-3", 5], ["0", "inf", "nan", ""]),
    ],
    ids=lambda value: getattr(value, "what", None),
)
def test_kind_takes_good_values_and_names_bad_ones(kind, good, bad):
    assert [kind(value) for value in good] == [kind.convert(str(value)) for value in good]
    for value in bad:
        with pytest.raises(argparse.ArgumentTypeError, match=f"must be .*, not {value!r}$"):
            kind(value)


def test_options_are_checked_by_what_their_fields_tell():
    options.check_options(Recipe())
    with pytest.raises(ValueError, match=r"`spoons` must be a whole number .*: spoons=0\.$"):
        options.check_options(Recipe(spoons=0))
    with pytest.raises(ValueError, match=r"`colour` must be one of \('red', 'green'\)\. Rec"):
        options.check_options(Recipe("blue"))
