"""How fast a biLM is pretrained, where the time goes, and how near that is to the machine's limit.

python3 benchmarks/pretraining.py 'corpus/train-*.txt.gz'

The default sizes are those at which a published trainer was measured: LSTMs of 512 projected to
128, the full published character filters, one highway, 20,000 words, a softmax sampled by 2,048,
64 lanes of 20 positions, float32. A token is one predicted position, for both directions together.
"""

import argparse
import itertools
import statistics

import tensorflow as tf
from arithmetic import PUBLISHED_FILTERS, gemm_rate, lstm_flops, time_call, word_flops

from keras_elmo.basics.text_files import find_files
from keras_elmo.bilm.bilm import BiLM
from keras_elmo.bilm.config import BiLMConfig
from keras_elmo.language_model.bidirectional import BidirectionalLanguageModel, Directions
from keras_elmo.language_model.softmax.make_softmax import SOFTMAXES, make_softmax
from keras_elmo.pretraining.corpus import ShuffledLines, count_corpus
from keras_elmo.pretraining.options import PretrainingOptions
from keras_elmo.pretraining.trainer import Trainer
from keras_elmo.text.vocabulary import Vocabulary
from keras_elmo_launcher import keep_freed_memory

SMALL_FILTERS = PUBLISHED_FILTERS[:5]
PUBLISHED_TRAINER = 1105  # tokens/s on 2 cores, at the default sizes
DTYPES = {"float32": "float32", "bfloat16": "mixed_bfloat16"}
WARM_STEPS = 70  # past the first blocks of the lanes, which are of different sizes


def main():
    args = parse()
    keep_freed_memory()
    if args.threads:
        tf.config.threading.set_intra_op_parallelism_threads(args.threads)
        tf.config.threading.set_inter_op_parallelism_threads(args.threads)
    paths = tuple(find_files(args.text))
    counts = count_corpus(paths, "words")
    trainer = make_trainer(args, paths, counts)
    results = measure_steps(trainer, args.steps)
    seconds = statistics.mean(result.seconds for result in results)
    waited = sum(result.waited for result in results) / sum(result.seconds for result in results)
    tokens_per_second = trainer.positions_per_step / seconds
    gemm = gemm_rate(args.precision)
    work, distinct = arithmetic(trainer, args.steps)
    print(
        f"lstm {args.lstm_dim}, projection {args.projection_dim}, softmax {args.softmax}, ", end=""
    )
    print(
        f"{args.batch_size} x {args.window}, {args.precision}, vocabulary {args.vocabulary_size:,}"
    )
    print(f"tokens/s (mean of {args.steps} steps)    {tokens_per_second:10,.0f}")
    ratio = tokens_per_second / PUBLISHED_TRAINER
    print(f"  of the published trainer's {PUBLISHED_TRAINER:,}  {ratio:10.2f}")
    print(f"distinct words a position         {distinct:10.2f}")
    print(f"MFLOP a token                     {sum(work.values()) / 1e6:10.1f}")
    rate = sum(work.values()) * tokens_per_second
    print(f"GFLOP/s                           {rate / 1e9:10.0f}")
    print(f"GFLOP/s of a large product here   {gemm / 1e9:10.0f}")
    print(f"  share reached                   {rate / gemm:10.0%}")
    print(f"waiting for text, share of time   {waited:10.1%}")
    print(f"\n{'part, run alone':20}{'ms':>8}{'of a step':>12}{'MFLOP a token':>16}")
    for name, part_seconds in time_parts(trainer).items():
        flops = f"{work[name] / 1e6:16.1f}" if name in work else ""
        print(f"{name:20}{part_seconds * 1e3:8.1f}{part_seconds / seconds:12.0%}{flops}")
    print("Parts run alone overlap less than in a step, so they need not sum to 100 %.")


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("text", nargs="+", help="text files, one sentence a line; patterns too")
    parser.add_argument("--lstm-dim", type=int, default=512)
    parser.add_argument("--projection-dim", type=int, default=128)
    parser.add_argument("--small-filters", action="store_true", help="widths up to 5 only")
    parser.add_argument("--softmax", choices=SOFTMAXES, default="sampled")
    parser.add_argument("--samples", type=int, default=2048)
    parser.add_argument("--vocabulary-size", type=int, default=20_000)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--window", type=int, default=20)
    parser.add_argument("--precision", choices=DTYPES, default="float32")
    parser.add_argument("--steps", type=int, default=150, help="steps to time")
    parser.add_argument("--threads", type=int)
    return parser.parse_args()


def make_trainer(args, paths, counts):
    config = BiLMConfig(
        lstm_dim=args.lstm_dim, projection_dim=args.projection_dim, n_layers=2, cell_clip=3.0,
        proj_clip=3.0, use_skip_connections=True, char_dim=16,
        filters=SMALL_FILTERS if args.small_filters else PUBLISHED_FILTERS,
        n_highway=1, activation="relu", tokenizer="words",
    )  # fmt: skip
    vocabulary = Vocabulary.build(counts.words, max_size=args.vocabulary_size)
    samples = {"n_samples": args.samples} if args.softmax == "sampled" else {}
    dtype = DTYPES[args.precision]
    softmax = make_softmax(
        args.softmax, len(vocabulary), config.projection_dim, dtype=dtype, **samples
    )
    model = BidirectionalLanguageModel(BiLM(config, frozen=False, dtype=dtype), softmax, vocabulary)
    options = PretrainingOptions(steps=1000, batch_size=args.batch_size, window=args.window)
    return Trainer(model, options, ShuffledLines(paths, counts.lines, 1), "words")


def measure_steps(trainer, steps):
    for _ in range(WARM_STEPS):
        trainer.step()
    return [trainer.step() for _ in range(steps)]


def time_parts(trainer):
    """Seconds of each part of a step, forward and backward, run alone on real windows."""
    model, options = trainer.model, trainer.options
    windows = next(trainer._open_pipeline())
    inputs = Directions(windows.forward_inputs, windows.backward_inputs)
    stacks = (
        model.bilm.contextual_encoder.forward_stack,
        model.bilm.contextual_encoder.backward_stack,
    )
    shape = (2, options.batch_size, options.window, model.bilm.config.projection_dim)
    vectors = tf.random.stateless_normal(shape, [1, 2])
    states = model.zero_states(options.batch_size)
    seed = tf.constant([1, 2])

    def encode():
        return tf.reduce_sum(tf.square(tf.stack(model._input_vectors(inputs))))

    def recur(vectors):
        tops = [
            stack(x, initial_states=state, resets=words == "", seed=seed)[0][-1]
            for stack, x, state, words in zip(
                stacks, tf.unstack(vectors), states, inputs, strict=True
            )
        ]
        return tf.reduce_sum(tf.square(tf.stack(tops)))

    def predict(vectors):
        targets = tf.stack(
            list(model._target_ids(windows.forward_targets, windows.backward_targets))
        )
        return tf.reduce_mean(model._nats(vectors, targets, seed))

    zeros = [tf.zeros(variable.shape) for variable in model.trainable_variables]
    return {
        "token encoder": _time_gradient(lambda _: encode(), vectors, model.bilm.token_encoder),
        "LSTMs": _time_gradient(recur, vectors, model.bilm.contextual_encoder),
        "softmax": _time_gradient(predict, vectors, model.softmax),
        "optimiser": time_call(
            tf.function(lambda: trainer.optimizer.apply(zeros, model.trainable_variables))
        ),
    }


def _time_gradient(loss_of, vectors, layer):
    variables = [variable.value for variable in layer.trainable_variables]

    @tf.function
    def gradients():
        with tf.GradientTape() as tape:
            tape.watch(vectors)
            loss = loss_of(vectors)
        found = tape.gradient(loss, [*variables, vectors], unconnected_gradients="zero")
        return [tf.reduce_sum(tf.convert_to_tensor(gradient)) for gradient in found]

    return time_call(gradients)


def arithmetic(trainer, steps):
    """FLOP a token of the products in each part, forward and twice that backward.

    Words are those of the steps that were timed.

    Returns:
        `(work, distinct)`: dict of part to FLOP, and distinct words a position.
    """
    config, softmax = trainer.model.bilm.config, trainer.model.softmax
    pipeline = trainer._open_pipeline()
    batches = [
        tf.unique(tf.reshape(tf.stack([windows[0], windows[2]]), [-1]))[0]
        for windows in itertools.islice(iter(lambda: next(pipeline), None), WARM_STEPS + steps)
    ]
    words = tf.concat(batches[WARM_STEPS:], axis=0)
    distinct = int(tf.size(words)) / trainer.positions_per_step / steps
    dim = config.projection_dim
    if softmax.kind == "adaptive":
        rows = [softmax.head.vocabulary_size * dim]
        # Of the tails, only the targets' own: some tenths of the positions, left out here.
    else:
        rows = [(softmax.n_samples if softmax.kind == "sampled" else softmax.vocabulary_size) * dim]
    work = {
        "token encoder": 3 * word_flops(config, words) * distinct,
        "LSTMs": 3 * lstm_flops(config),
        "softmax": 3 * 2 * 2 * sum(rows),
    }
    return work, distinct


if __name__ == "__main__":
    main()
