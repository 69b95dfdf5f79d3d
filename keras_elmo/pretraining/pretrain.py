"""Does what `keras_elmo-train bilm` was asked: reads, plans, trains and reports."""

import dataclasses
import errno
import hashlib
import itertools
import json
import os
import sys

import keras
import tensorflow as tf

from keras_elmo.basics.files import remove_scratch
from keras_elmo.bilm.bilm import BiLM
from keras_elmo.bilm.config import BiLMConfig
from keras_elmo.cli.command import UserError
from keras_elmo.cli.output import check_output
from keras_elmo.cli.plots import PERPLEXITY, PerplexityPicture, check_plots
from keras_elmo.cli.progress import print_plan, show_training
from keras_elmo.cli.signals import ended_by_interrupt
from keras_elmo.language_model.bidirectional import BidirectionalLanguageModel
from keras_elmo.language_model.files import MODEL_FILES
from keras_elmo.language_model.softmax.make_softmax import make_softmax
from keras_elmo.pretraining.checkpoint import Checkpoints
from keras_elmo.pretraining.corpus import CorpusCounts, ShuffledLines, count_corpus, read_sentences
from keras_elmo.pretraining.initialization import initialize, load_source
from keras_elmo.pretraining.log import NAME as LOG
from keras_elmo.pretraining.machines import is_first, make_strategy
from keras_elmo.pretraining.options import TrainingOptions
from keras_elmo.pretraining.pretrain_checks import (
    check_source_stays,
    check_use,
    find_held_out,
    find_texts,
)
from keras_elmo.pretraining.run import CHECKPOINTS, LAST, Run, RunOptions
from keras_elmo.pretraining.trainer import Trainer
from keras_elmo.text.vocabulary import Vocabulary

PRECISIONS = {
    "float32": "float32",
    "bfloat16": "mixed_bfloat16",
    "float16": "mixed_float16",
}
MODEL_DEFAULTS = BiLMConfig(
    lstm_dim=512,
    projection_dim=256,
    n_layers=2,
    cell_clip=3.0,
    proj_clip=3.0,
    use_skip_connections=True,
    char_dim=16,
    filters=((1, 32), (2, 32), (3, 64), (4, 128), (5, 256)),
    n_highway=1,
    activation="relu",
    tokenizer="words",
)
FLAGS = {
    "--lstm-dim": ("lstm.dim", "lstm_dim"),
    "--projection-dim": ("lstm.projection_dim", "projection_dim"),
    "--n-layers": ("lstm.n_layers", "n_layers"),
    "--char-dim": ("char_cnn.embedding.dim", "char_dim"),
    "--filters": ("char_cnn.filters", "filters"),
    "--n-highway": ("char_cnn.n_highway", "n_highway"),
    "--activation": ("char_cnn.activation", "activation"),
    "--clip": ("lstm.cell_clip", "lstm.proj_clip", "cell_clip", "proj_clip"),
    "--no-skip-connections": ("lstm.use_skip_connections", "use_skip_connections"),
}
VOCABULARY_SIZE = 20_000
NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
OUTPUT_FILES = (*MODEL_FILES, LOG, CHECKPOINTS, LAST)


def pretrain(args):
    """Train as the arguments say; returns the exit status."""
    try:
        _set_threads(args.threads)
        with ended_by_interrupt():  # It waits for all machines.
            strategy = make_strategy(args.strategy)
        run, corpus = _prepare(args, strategy)
        run.check_machines()
        print_plan(run, corpus)
        return 0 if args.dry_run else show_training(run, _picture(args, run))
    except tf.errors.OpError as error:
        if not os.environ.get("TF_CONFIG"):
            raise
        raise UserError(
            f"another machine has gone ({str(error).splitlines()[0]}); start all of them again "
            "with --resume",
            status=1,
        ) from None
    except OSError as error:
        if error.errno not in NO_SPACE:
            raise UserError(str(error)) from None
        raise UserError(
            f"{args.output}: {error.strerror}. What was written before is kept; free space and go "
            "on with --resume"
        ) from None
    except (FloatingPointError, ValueError, TypeError) as error:
        raise UserError(_with_flags(str(error))) from None


def _with_flags(message):
    """A message in which options of the biLM are called what they are on the command line."""
    for flag, names in FLAGS.items():
        for name in names:
            message = message.replace(f"`{name}`", flag)
    return message


def _picture(args, run):
    return None if args.plots is None or not run.writes else PerplexityPicture(args, run)


def _set_threads(threads):
    if threads is None:
        return
    try:
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
    except RuntimeError:
        raise UserError(
            "--threads: TensorFlow is at work already in this process; run the command by itself"
        ) from None


@dataclasses.dataclass(frozen=True)
class _Corpus:
    """The training text: its files, what they hold and the words to predict."""

    paths: tuple
    counts: CorpusCounts
    vocabulary: Vocabulary

    @property
    def unknown_share(self):
        """Share of the tokens that the vocabulary lacks."""
        unknown = sum(n for word, n in self.counts.words.items() if word not in self.vocabulary)
        return unknown / self.counts.tokens


def _prepare(args, strategy):
    """Everything that can be wrong is found here, before the first step."""
    check_use(args)
    paths = find_texts(args.text)
    held_out_paths = find_held_out(args, paths)
    check_output(args.output, args.overwrite, OUTPUT_FILES, args.resume)
    check_source_stays(args)
    first = is_first(strategy)
    say = print if first else _say_nothing
    if first:
        check_plots(args, [PERPLEXITY], args.overwrite or args.resume, [args.output])
        remove_scratch(args.output)
    checkpoint = _newest_checkpoint(args, say)
    source = _load_source(args)
    args.tokenizer = args.tokenizer or _bilm_config(source).tokenizer or MODEL_DEFAULTS.tokenizer
    held_out = _read_held_out(args, held_out_paths)
    corpus = _read_corpus(args, paths)
    keras.utils.set_random_seed(args.seed)
    with strategy.scope():
        model = _make_model(args, corpus.vocabulary, source)
    if source is not None and checkpoint is None:
        _start_from(source, model, args, say)
    options = _training_options(args, corpus, strategy)
    stream = ShuffledLines(tuple(paths), corpus.counts.lines, args.seed)
    trainer = Trainer(model, options, stream, args.tokenizer, strategy)
    run = Run(
        trainer,
        _run_options(args, -(-corpus.counts.positions // trainer.positions_per_step)),
        held_out,
        corpus.counts.positions,
        _settings(args, model, options, paths, held_out_paths, strategy),
        first,
    )
    if checkpoint is not None:
        run.resume(checkpoint)
        say(f"going on after step {checkpoint.step:,}", flush=True)
    return run, corpus


def _say_nothing(*args, **kwargs):
    """`print` of the machines that do not report."""


def _load_source(args):
    if args.init_from is None:
        return None
    try:
        return load_source(args.init_from, args.init_vocabulary)
    except (ValueError, TypeError, OSError) as error:
        raise UserError(f"--init-from {args.init_from}: {error}") from None


def _newest_checkpoint(args, say):
    if not args.resume:
        return None
    checkpoint, damaged = Checkpoints(os.path.join(args.output, CHECKPOINTS)).newest()
    for path, reason in damaged:
        say(f"{path} is damaged ({reason}); the one before it is looked at", file=sys.stderr)
    if checkpoint is None:
        if damaged:
            raise UserError(
                f"{args.output}: no whole checkpoint is left; start a new run, or go on from the "
                f"model in it with --init-from {args.output} --output ANOTHER"
            )
        say(f"no checkpoint in {args.output}: starting at the beginning", flush=True)
    return checkpoint


def _read_held_out(args, paths):
    sentences = read_sentences(paths, args.tokenizer)
    held_out = list(itertools.islice(sentences, args.held_out_sentences))
    if args.held_out and not held_out:
        raise UserError(
            f"{args.held_out}: the held-out text must hold a sentence, found none; give text"
        )
    return held_out


def _read_corpus(args, paths):
    vocabulary = _read_vocabulary(args)
    counts = count_corpus(paths, args.tokenizer)
    if not counts.sentences:
        raise UserError(
            f"{paths[0]}: the text must hold at least one sentence, found none; give text, a "
            "sentence a line"
        )
    if vocabulary is None:
        vocabulary = Vocabulary.build(
            counts.words, max_size=args.vocabulary_size or VOCABULARY_SIZE
        )
    elif not any(word in vocabulary for word in counts.words):
        raise UserError(
            f"--vocabulary {args.vocabulary} holds no word of the text; give a file of one word a "
            "line, cut as the text is"
        )
    elif finding := vocabulary.out_of_order(counts.words):
        print(
            f"warning: {args.vocabulary}: {finding}. The adaptive and the sampled softmax expect "
            "words by falling frequency.",
            file=sys.stderr,
        )
    return _Corpus(tuple(paths), counts, vocabulary)


def _read_vocabulary(args):
    if args.vocabulary is None:
        return None
    try:
        return Vocabulary.read(args.vocabulary)
    except ValueError as error:
        raise UserError(f"--vocabulary {args.vocabulary}: {error}") from None
    except OSError as error:
        raise UserError(
            f"--vocabulary {args.vocabulary}: {error.strerror}; give a file of one word a line"
        ) from None


def _make_model(args, vocabulary, source):
    dtype = PRECISIONS[args.precision]
    config = _config(args, source)
    bilm = BiLM(config, frozen=False, dropout=args.dropout, dtype=dtype)
    softmax = _make_softmax(args, source, len(vocabulary), config.projection_dim, dtype)
    return BidirectionalLanguageModel(bilm, softmax, vocabulary)


def _start_from(source, model, args, say):
    kept, restarted, new = initialize(model, source)
    moved = f"{restarted:,} known but moved to another cluster, " if restarted else ""
    say(
        f"started from {args.init_from}: {kept:,} words of the softmax kept, {moved}{new:,} new",
        flush=True,
    )


def _bilm_config(source):
    """The options of the biLM to start from, else the defaults."""
    return MODEL_DEFAULTS if source is None else getattr(source, "bilm", source).config


def _config(args, source):
    """The source's options, else the defaults, replaced by those that were given."""
    given = {
        "lstm_dim": args.lstm_dim,
        "projection_dim": args.projection_dim,
        "n_layers": args.n_layers,
        "cell_clip": args.clip,
        "proj_clip": args.clip,
        "use_skip_connections": None if args.no_skip_connections is None else False,
        "char_dim": args.char_dim,
        "filters": args.filters,
        "n_highway": args.n_highway,
        "activation": args.activation,
        "tokenizer": args.tokenizer,
    }
    given = {name: value for name, value in given.items() if value is not None}
    return dataclasses.replace(_bilm_config(source), **given)


def _make_softmax(args, source, size, hidden_dim, dtype):
    earlier = getattr(source, "softmax", None)
    kind = args.softmax or (earlier.kind if earlier else "adaptive")
    if kind != "sampled" and args.samples is not None:
        raise UserError(f"--samples is for --softmax sampled, not {kind}")
    samples = {"n_samples": args.samples} if kind == "sampled" else {}
    return make_softmax(kind, size, hidden_dim, dtype=dtype, **samples)


def _training_options(args, corpus, strategy):
    lanes = args.batch_size * strategy.num_replicas_in_sync
    steps = args.steps or round(args.epochs * corpus.counts.positions / (lanes * args.window))
    names = [field.name for field in dataclasses.fields(TrainingOptions)]
    given = {name: getattr(args, name) for name in names if name != "steps"}
    given = {name: value for name, value in given.items() if value is not None}
    return TrainingOptions(steps=max(1, steps), **given)


def _run_options(args, steps_per_epoch):
    given = {field.name: getattr(args, field.name) for field in dataclasses.fields(RunOptions)}
    usual = min(steps_per_epoch, RunOptions.evaluate_every)
    return RunOptions(**{**given, "evaluate_every": args.evaluate_every or usual})


def _settings(args, model, options, paths, held_out_paths, strategy):
    """What a run that is resumed must agree with; how it is spread over machines is free."""
    settings = dataclasses.asdict(options)
    settings["lanes"] = settings.pop("batch_size") * strategy.num_replicas_in_sync
    settings |= {
        "text": [[os.path.basename(path), os.path.getsize(path)] for path in paths],
        "held_out": [[os.path.basename(path), os.path.getsize(path)] for path in held_out_paths],
        "model": model.bilm.config.to_options(),
        "softmax": model.softmax.kind,
        "init_from": args.init_from and os.path.basename(os.path.normpath(args.init_from)),
        "words to predict (sha256)": hashlib.sha256(
            "\n".join(model.vocabulary.words).encode()
        ).hexdigest(),
    }
    names = (
        "held_out_sentences", "tokenizer", "vocabulary_size", "samples", "dropout", "precision",
    )  # fmt: skip
    settings |= {name: getattr(args, name) for name in names}
    return json.loads(json.dumps(settings))
