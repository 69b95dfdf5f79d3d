import copy
import json
import warnings

import pytest

from keras_elmo.bilm.config import BiLMConfig


def options(**changes):
    content = BiLMConfig(lstm_dim=12, projection_dim=8).to_options()
    for path, value in changes.items():
        section = content
        *parents, key = path.split("__")
        for parent in parents:
            section = section[parent]
        if value is ...:
            del section[key]
        else:
            section[key] = value
    return content


def test_round_trip_through_json(tmp_path):
    config = BiLMConfig(
        lstm_dim=12, projection_dim=8, n_layers=3, proj_clip=None, tokenizer="words"
    )
    path = tmp_path / "options.json"
    path.write_bytes(config.to_json())
    assert BiLMConfig.read(path) == config


def test_defaults_are_the_published_ones():
    config = BiLMConfig(lstm_dim=4096, projection_dim=512)
    assert config.output_dim == 1024
    assert sum(count for _, count in config.filters) == 2048
    assert (config.cell_clip, config.n_layers, config.max_characters_per_token) == (3.0, 2, 50)


def test_training_keys_of_the_published_trainer_are_ignored():
    content = options(all_clip_norm_val=10.0, n_tokens_vocab=793471, bidirectional=True)
    content["lstm"]["variational_dropout"] = 0.1
    assert BiLMConfig.from_options(content) == BiLMConfig.from_options(options())


def test_absent_clips_and_highways_mean_none():
    content = options(lstm__cell_clip=..., lstm__proj_clip=..., char_cnn__n_highway=...)
    config = BiLMConfig.from_options(content)
    assert (config.cell_clip, config.proj_clip, config.n_highway) == (None, None, 0)


def test_u35_261_characters_mean_the_same_with_one_note():
    with pytest.warns(UserWarning, match="261") as notes:
        config = BiLMConfig.from_options(options(char_cnn__n_characters=261))
    assert len(notes) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert BiLMConfig.from_options(options(char_cnn__n_characters=262)) == config


WRONG = {
    "lstm": (..., ValueError, "must hold `lstm`"),
    "char_cnn": (7, TypeError, "`char_cnn` must be a JSON object"),
    "lstm__dim": (..., ValueError, "must hold `dim`"),
    "lstm__projection_dim": (-8, ValueError, "lstm.projection_dim"),
    "lstm__n_layers": (1, ValueError, "lstm.n_layers"),
    "lstm__cell_clip": (float("inf"), ValueError, "lstm.cell_clip"),
    "lstm__proj_clip": ("3", TypeError, "lstm.proj_clip"),
    "lstm__use_skip_connections": ("yes", TypeError, "use_skip_connections"),
    "char_cnn__filters": ([], ValueError, "char_cnn.filters"),
    "char_cnn__n_highway": ([], TypeError, "n_highway"),
    "char_cnn__embedding": ([], TypeError, "`embedding` must be a JSON object"),
    "char_cnn__n_characters": (300, ValueError, "n_characters"),
    "char_cnn__activation": ("gelu", ValueError, "activation"),
    "char_cnn__max_characters_per_token": (4, ValueError, "wider"),
    "tokenizer": ("bpe", ValueError, "tokenizer"),
}


@pytest.mark.parametrize("path", WRONG)
def test_wrong_option_is_named(path):
    value, error, message = WRONG[path]
    with pytest.raises(error, match=f"my-options: .*{message}"):
        BiLMConfig.from_options(options(**{path: value}), source="my-options")


@pytest.mark.parametrize("value", [10**9, 2.5, True])
def test_hostile_size_is_an_error_not_an_allocation(value):
    with pytest.raises((TypeError, ValueError), match="lstm.dim"):
        BiLMConfig.from_options(options(lstm__dim=value))


def test_a_clip_that_no_float_has_room_for():
    with pytest.raises(ValueError, match=r"lstm.cell_clip` must be above 0 and at most 1e\+30"):
        BiLMConfig.from_options(options(lstm__cell_clip=10**400))


@pytest.mark.parametrize("filters", [[[1]], [[0, 4]], [[1, 10**9]], "1:4"])
def test_hostile_filters(filters):
    with pytest.raises(ValueError, match="char_cnn.filters"):
        BiLMConfig.from_options(options(char_cnn__filters=filters))


CONTENTS = [b"\x89HDF\r\n", b"[1, 2]", b"[" * 100_000, b"9" * 5000]


@pytest.mark.parametrize("content", CONTENTS, ids=range(len(CONTENTS)))
def test_not_an_options_file(content, tmp_path):
    path = tmp_path / "options.json"
    path.write_bytes(content)
    with pytest.raises((ValueError, TypeError), match="options.json"):
        BiLMConfig.read(path)


def test_options_are_not_shared_between_configs():
    config = BiLMConfig.from_options(options())
    first = config.to_options()
    kept = copy.deepcopy(first)
    first["lstm"]["dim"] = 1
    assert config.to_options() == kept
    assert json.loads(config.to_json()) == kept
