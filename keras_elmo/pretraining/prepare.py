"""All that comes before the first step: whatever can be wrong is found here."""

import dataclasses
import hashlib
import itertools
import json
import os
from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf

from keras_elmo.basics.files import remove_scratch
from keras_elmo.basics.text_files import STDIN, find_files
from keras_elmo.bilm.bilm import BiLM
from keras_elmo.bilm.config import BiLMConfig
from keras_elmo.language_model.bidirectional import BidirectionalLanguageModel
from keras_elmo.language_model.softmax.make_softmax import make_softmax
from keras_elmo.layers.freezable import initial_values_of
from keras_elmo.pretraining.checkpoint import Checkpoints
from keras_elmo.pretraining.corpus import CorpusCounts, ShuffledLines, count_corpus, read_sentences
from keras_elmo.pretraining.initialization import initialize, load_source
from keras_elmo.pretraining.options import (
    MODEL_DEFAULTS,
    MOST_EVALUATE_EVERY,
    PRECISIONS,
    PretrainingOptions,
    TrainingOptions,
)
from keras_elmo.pretraining.places import CHECKPOINTS, check_places
from keras_elmo.pretraining.run import Run
from keras_elmo.pretraining.strategy import is_first
from keras_elmo.pretraining.trainer import Trainer
from keras_elmo.text.vocabulary import Vocabulary

# Fields of BiLMConfig, and the option that each is.
CONFIG_OPTIONS = {field.name: field.name for field in dataclasses.fields(BiLMConfig)}
CONFIG_OPTIONS |= {"cell_clip": "clip", "proj_clip": "clip"}


@dataclasses.dataclass(frozen=True)
class Corpus:
    """The training text: its files, what they hold and the words to predict."""

    paths: tuple[str, ...]
    counts: CorpusCounts
    vocabulary: Vocabulary

    @property
    def unknown_share(self) -> float:
        """Share of the tokens that the vocabulary lacks."""
        unknown = sum(n for word, n in self.counts.words.items() if word not in self.vocabulary)
        return unknown / self.counts.tokens


class Prepared(NamedTuple):
    """A run before its first step.

    Attributes:
        run: the Run.
        corpus: what it trains on.
        notes: what it goes on or starts from, a line each.
        remarks: what may be a mistake, a line each.
    """

    run: Run
    corpus: Corpus
    notes: list[str]
    remarks: list[str]


def prepare(
    text: str | os.PathLike | Sequence[str | os.PathLike],
    output: str | os.PathLike,
    options: PretrainingOptions,
    strategy: tf.distribute.Strategy,
    resume: bool = False,
    overwrite: bool = False,
) -> Prepared:
    """Read, check and make what a run needs; nothing is written yet.

    Arguments are those of `keras_elmo.pretrain`, and a strategy of `make_strategy`.

    Raises:
        OSError: a file is missing, or the output may not or cannot be written.
        TypeError: a place is not of a type that can name one.
        ValueError: text, options, vocabulary or checkpoint are not what they should be.
    """
    notes: list[str] = []
    remarks: list[str] = []
    paths, held_out_paths = _find_texts(text, options.held_out)
    output = os.fspath(output)
    check_places(output, options, resume, overwrite)
    is_writer = is_first(strategy)
    if is_writer:
        remove_scratch(output)
    checkpoint = _newest_checkpoint(output, notes, remarks) if resume else None
    source = _load_source(options)
    config = _config(options, source)
    held_out = _read_held_out(held_out_paths, options, config.tokenizer)
    corpus = _read_corpus(paths, options, config.tokenizer, remarks)
    with strategy.scope(), initial_values_of(options.seed):
        model = _make_model(options, config, corpus.vocabulary, source)
    if source is not None and checkpoint is None:
        notes.append(_start_from(source, model, options.init_from))
    positions = corpus.counts.positions
    options = _with_lengths(options, positions, strategy)
    stream = ShuffledLines(corpus.paths, corpus.counts.lines, options.seed)
    trainer = Trainer(model, options, stream, config.tokenizer, strategy)
    settings = _settings(trainer, paths, held_out_paths)
    run = Run(trainer, output, held_out, positions, settings, is_writer)
    if checkpoint is not None:
        run.resume(checkpoint)
        notes.append(f"going on after step {checkpoint.step:,}")
    return Prepared(run, corpus, notes, remarks)


def _find_texts(text, held_out):
    """The files of the training text and of the held-out text."""
    many = isinstance(text, (list, tuple))
    paths = _files_of(text if many else [text], "text")
    found = [] if held_out is None else _files_of([held_out], "held_out")
    for path in found:
        if any(os.path.samefile(path, other) for other in paths):
            raise ValueError(
                f"`held_out` must be text that is not trained on. Received: {path}, which is "
                "among the training files. Give other text."
            )
    return paths, found


def _files_of(patterns, name):
    paths = list(dict.fromkeys(find_files(map(os.fspath, patterns))))
    if STDIN in paths or not paths:
        raise ValueError(
            f"`{name}` must be files, which are read more than once. Received: "
            f"{'standard input' if paths else 'none'}. Give the paths of text files."
        )
    return paths


def _newest_checkpoint(output, notes, remarks):
    checkpoint, damaged = Checkpoints(os.path.join(output, CHECKPOINTS)).newest()
    remarks += [
        f"{path} is damaged ({reason}); the one before it is looked at" for path, reason in damaged
    ]
    if checkpoint is None:
        if damaged:
            raise ValueError(
                f"{output} must hold a whole checkpoint to go on from. Received: "
                f"{len(damaged)}, all damaged ({damaged[0][1]}). Start a new run, from the model "
                "there (`init_from`) or anew."
            )
        notes.append(f"no checkpoint in {output}: starting at the beginning")
    return checkpoint


def _load_source(options):
    """The model to start from, or None."""
    place = options.init_from
    if place is None:
        return None
    try:
        return load_source(place, options.init_vocabulary)
    except (ValueError, TypeError, OSError) as error:
        raise type(error)(f"`init_from` {place}: {error}") from None


def _config(options, source):
    """The source's options, else the defaults, replaced by those that were given."""
    config = MODEL_DEFAULTS if source is None else getattr(source, "bilm", source).config
    given = {name: getattr(options, own, None) for name, own in CONFIG_OPTIONS.items()}
    config = dataclasses.replace(
        config, **{name: value for name, value in given.items() if value is not None}
    )
    return dataclasses.replace(config, tokenizer=config.tokenizer or MODEL_DEFAULTS.tokenizer)


def _read_held_out(paths, options, tokenizer):
    sentences = read_sentences(paths, tokenizer)
    held_out = list(itertools.islice(sentences, options.held_out_sentences))
    if paths and not held_out:
        raise ValueError(
            f"`held_out` must hold at least one sentence. Received: {paths[0]} with none. Give "
            "text, a sentence a line."
        )
    return held_out


def _read_corpus(paths, options, tokenizer, remarks):
    vocabulary = _read_vocabulary(options.vocabulary)
    counts = count_corpus(paths, tokenizer)
    if not counts.sentences:
        raise ValueError(
            f"`text` must hold at least one sentence. Received: {paths[0]} with none. Give text, "
            "a sentence a line."
        )
    if vocabulary is None:
        vocabulary = Vocabulary.build(counts.words, max_size=options.vocabulary_size)
    elif not any(word in vocabulary for word in counts.words):
        raise ValueError(
            f"`vocabulary` must hold words of the text. Received: {options.vocabulary} with none "
            "of them. Give a file of one word a line, cut as the text is."
        )
    elif finding := vocabulary.out_of_order(counts.words):
        remarks.append(
            f"{options.vocabulary}: {finding}. The adaptive and the sampled softmax expect words "
            "by falling frequency."
        )
    return Corpus(tuple(paths), counts, vocabulary)


def _read_vocabulary(path):
    if path is None:
        return None
    try:
        return Vocabulary.read(path)
    except (ValueError, OSError) as error:
        reason = getattr(error, "strerror", None)
        told = f"{reason}. Give a file of one word a line." if reason else error
        raise type(error)(f"`vocabulary` {path}: {told}") from None


def _make_model(options, config, vocabulary, source):
    dtype = PRECISIONS[options.precision]
    earlier = getattr(source, "softmax", None)
    kind = options.softmax or (earlier.kind if earlier else "adaptive")
    if kind != "sampled" and options.samples is not None:
        raise ValueError(
            f"`samples` is for `softmax` sampled. Received: samples={options.samples}, "
            f"softmax={kind!r}. Leave one of them out."
        )
    samples = {"n_samples": options.samples} if kind == "sampled" else {}
    bilm = BiLM(config, frozen=False, dropout=options.dropout, dtype=dtype)
    softmax = make_softmax(kind, len(vocabulary), config.projection_dim, dtype=dtype, **samples)
    return BidirectionalLanguageModel(bilm, softmax, vocabulary)


def _start_from(source, model, place):
    kept, restarted, new = initialize(model, source)
    moved = f"{restarted:,} known but moved to another cluster, " if restarted else ""
    return f"started from {place}: {kept:,} words of the softmax kept, {moved}{new:,} new"


def _with_lengths(options, positions, strategy):
    """The options with the number of steps, and how often to evaluate."""
    a_step = options.batch_size * strategy.num_replicas_in_sync * options.window
    steps = options.steps or max(1, round(options.epochs * positions / a_step))
    every = options.evaluate_every or min(-(-positions // a_step), MOST_EVALUATE_EVERY)
    return dataclasses.replace(options, steps=steps, epochs=None, evaluate_every=every)


def _settings(trainer, paths, held_out_paths):
    """What a run that is resumed must agree with; how it is spread over machines is free."""
    options, model = trainer.options, trainer.model
    names = [field.name for field in dataclasses.fields(TrainingOptions)]
    names += ["held_out_sentences", "vocabulary_size", "samples"]
    settings = {name: getattr(options, name) for name in names}
    del settings["epochs"], settings["batch_size"]
    words = "\n".join(model.vocabulary.words).encode()
    source = options.init_from
    settings |= {
        "lanes": trainer.lanes,
        "text": [[os.path.basename(path), os.path.getsize(path)] for path in paths],
        "held_out": [[os.path.basename(path), os.path.getsize(path)] for path in held_out_paths],
        "model": model.bilm.config.to_options(),
        "softmax": model.softmax.kind,
        "init_from": source and os.path.basename(os.path.normpath(source)),
        "words to predict (sha256)": hashlib.sha256(words).hexdigest(),
    }
    return json.loads(json.dumps(settings, default=lambda value: value.item()))
