"""The shape of a biLM, as its `options.json` tells it."""

import dataclasses
import json
import os
import warnings
from collections.abc import Mapping
from typing import Any

from keras_elmo.text.rules import MAX_CHARACTERS_PER_TOKEN, NUM_CHARACTERS, TOKENIZERS

ACTIVATIONS = ("relu", "tanh")
LARGEST_SIZE = 65_536
LARGEST_CLIP = 1e30  # a float32 has room for it


@dataclasses.dataclass(frozen=True)
class BiLMConfig:
    """The dimensions and rules that define a biLM.

    Defaults are those of the published models. Field names are the option names of
    `options.json`, with `lstm.dim` and `char_cnn.embedding.dim` as `lstm_dim` and `char_dim`.

    Args:
        lstm_dim: size of an LSTM's cell.
        projection_dim: size of the token vector and of a direction's output.
        n_layers: LSTM layers a direction, 2 at least.
        cell_clip: bound of the cell's values; None for none.
        proj_clip: bound of the output's values; None for none.
        use_skip_connections: whether layers from the second on add their input.
        char_dim: size of a character vector.
        filters: `((width, count), ...)` of the character convolutions.
        n_highway: highway layers.
        max_characters_per_token: character ids a word, marks included.
        activation: `"relu"` or `"tanh"`.
        tokenizer: `"space"`, `"words"` or None where the model names no rule.

    Raises:
        ValueError: a value outside its range, named with its option.
        TypeError: a value of the wrong type.
    """

    lstm_dim: int
    projection_dim: int
    n_layers: int = 2
    cell_clip: float | None = 3.0
    proj_clip: float | None = 3.0
    use_skip_connections: bool = True
    char_dim: int = 16
    filters: tuple[tuple[int, int], ...] = (
        (1, 32),
        (2, 32),
        (3, 64),
        (4, 128),
        (5, 256),
        (6, 512),
        (7, 1024),
    )
    n_highway: int = 2
    max_characters_per_token: int = MAX_CHARACTERS_PER_TOKEN
    activation: str = "relu"
    tokenizer: str | None = None

    def __post_init__(self):
        object.__setattr__(self, "filters", _checked_filters(self.filters))
        _check_int("lstm.dim", self.lstm_dim, 1)
        _check_int("lstm.projection_dim", self.projection_dim, 1)
        _check_int("lstm.n_layers", self.n_layers, 2, 64)
        _check_clip("lstm.cell_clip", self.cell_clip)
        _check_clip("lstm.proj_clip", self.proj_clip)
        _check_bool("lstm.use_skip_connections", self.use_skip_connections)
        _check_int("char_cnn.embedding.dim", self.char_dim, 1)
        _check_int("char_cnn.n_highway", self.n_highway, 0, 64)
        widest = max(width for width, _ in self.filters)
        _check_int("char_cnn.max_characters_per_token", self.max_characters_per_token, 3, 1000)
        if widest > self.max_characters_per_token:
            raise ValueError(
                "`char_cnn.filters` must not be wider than `max_characters_per_token` "
                f"({self.max_characters_per_token}). Received a width of {widest}."
            )
        _check_choice("char_cnn.activation", self.activation, ACTIVATIONS)
        _check_choice("tokenizer", self.tokenizer, (None, *TOKENIZERS))

    @property
    def output_dim(self) -> int:
        """Size of a layer's vector: both directions, `2 * projection_dim`."""
        return 2 * self.projection_dim

    @classmethod
    def from_options(cls, options: Mapping[str, Any], source: str = "options") -> "BiLMConfig":
        """Build a config from the content of an `options.json` file.

        Args:
            options: with `lstm` and `char_cnn` as in the published files. Other keys (of the
                training run) are ignored; `n_characters` may be 261 or 262, which mean the same.
            source: the file's name for messages.

        Raises:
            ValueError: a required option is missing or out of range.
            TypeError: an option has the wrong type.
        """
        try:
            return cls(**_fields_of_options(options))
        except (TypeError, ValueError) as error:
            raise type(error)(f"{source}: {error}") from None

    def to_options(self) -> dict[str, Any]:
        """The content of `options.json`, readable by AllenNLP and bilm-tf."""
        options = {
            "lstm": {
                "use_skip_connections": self.use_skip_connections,
                "projection_dim": self.projection_dim,
                "cell_clip": self.cell_clip,
                "proj_clip": self.proj_clip,
                "dim": self.lstm_dim,
                "n_layers": self.n_layers,
            },
            "char_cnn": {
                "activation": self.activation,
                "filters": [list(pair) for pair in self.filters],
                "n_highway": self.n_highway,
                "embedding": {"dim": self.char_dim},
                "n_characters": NUM_CHARACTERS + 1,
                "max_characters_per_token": self.max_characters_per_token,
            },
        }
        if self.tokenizer is not None:
            options["tokenizer"] = self.tokenizer
        return options

    @classmethod
    def read(cls, path: str | os.PathLike) -> "BiLMConfig":
        """Read an `options.json` file.

        Raises:
            FileNotFoundError: no file at `path`.
            ValueError: the file is not JSON, or lacks an option.
        """
        with open(path, "rb") as file:
            return cls.from_json(file.read(), source=os.fspath(path))

    @classmethod
    def from_json(cls, content: bytes, source: str = "options") -> "BiLMConfig":
        """Build a config from the bytes of an `options.json` file; `source` names it in errors."""
        try:
            options = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"{source} must be a JSON file of options. Received content that is not JSON "
                f"({error}). Give the model's options file; in a pair it comes first."
            ) from None
        return cls.from_options(options, source)

    def to_json(self) -> bytes:
        """The bytes of an `options.json` file."""
        return (json.dumps(self.to_options(), indent=2) + "\n").encode()


def _fields_of_options(options):
    lstm = _section(options, "lstm", "options")
    char_cnn = _section(options, "char_cnn", "options")
    embedding = _section(char_cnn, "embedding", "char_cnn")
    _note_characters(_required(char_cnn, "n_characters", "char_cnn"))
    return {
        "lstm_dim": _required(lstm, "dim", "lstm"),
        "projection_dim": _required(lstm, "projection_dim", "lstm"),
        "n_layers": _required(lstm, "n_layers", "lstm"),
        "cell_clip": lstm.get("cell_clip"),
        "proj_clip": lstm.get("proj_clip"),
        "use_skip_connections": lstm.get("use_skip_connections", False),
        "char_dim": _required(embedding, "dim", "char_cnn.embedding"),
        "filters": _required(char_cnn, "filters", "char_cnn"),
        "n_highway": 0 if char_cnn.get("n_highway") is None else char_cnn["n_highway"],
        "max_characters_per_token": _required(char_cnn, "max_characters_per_token", "char_cnn"),
        "activation": char_cnn.get("activation", "relu"),
        "tokenizer": options.get("tokenizer"),
    }


def _section(options, key, parent):
    if not isinstance(options, dict):
        raise TypeError(
            f"`{parent}` must be a JSON object. Received: {type(options).__name__}. "
            "Give the options file of the model."
        )
    section = _required(options, key, parent)
    if not isinstance(section, dict):
        raise TypeError(
            f"`{key}` must be a JSON object. Received: {type(section).__name__}. "
            "Give the options file of the model."
        )
    return section


def _required(section, key, parent):
    if key not in section:
        raise ValueError(
            f"`{parent}` must hold `{key}`. Received: {sorted(section)}. "
            "Give the options file that belongs to the weights."
        )
    return section[key]


def _note_characters(n_characters):
    if n_characters not in (NUM_CHARACTERS, NUM_CHARACTERS + 1):
        raise ValueError(
            f"`char_cnn.n_characters` must be {NUM_CHARACTERS} or {NUM_CHARACTERS + 1}. "
            f"Received: {n_characters!r}. Other character sets are not supported."
        )
    if n_characters == NUM_CHARACTERS:
        warnings.warn(
            f"`n_characters` is {NUM_CHARACTERS}, as in training; the model loads as with "
            f"{NUM_CHARACTERS + 1}, which counts the padding row.",
            stacklevel=2,
        )


def _checked_filters(filters):
    message = (
        "`char_cnn.filters` must be a non-empty list of [width, count] pairs of positive integers "
        f"up to {LARGEST_SIZE}. Received: {filters!r:.200}."
    )
    if not isinstance(filters, (list, tuple)) or not filters or len(filters) > 64:
        raise ValueError(message)
    for pair in filters:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise ValueError(message)
        if not all(_is_int(value) and 1 <= value <= LARGEST_SIZE for value in pair):
            raise ValueError(message)
    return tuple((int(width), int(count)) for width, count in filters)


def _is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _check_int(option, value, smallest, largest=LARGEST_SIZE):
    if not _is_int(value):
        raise TypeError(f"`{option}` must be an integer. Received: {value!r}.")
    if not smallest <= value <= largest:
        raise ValueError(
            f"`{option}` must be an integer from {smallest} to {largest}. Received: {value}."
        )


def _check_clip(option, value):
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"`{option}` must be a number or null. Received: {value!r}.")
    if not 0 < value <= LARGEST_CLIP:
        raise ValueError(
            f"`{option}` must be above 0 and at most {LARGEST_CLIP:.0e}, or null for none. "
            f"Received: {value}."
        )


def _check_bool(option, value):
    if not isinstance(value, bool):
        raise TypeError(f"`{option}` must be true or false. Received: {value!r}.")


def _check_choice(option, value, choices):
    if value not in choices:
        raise ValueError(f"`{option}` must be one of {choices}. Received: {value!r}.")
