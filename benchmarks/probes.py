"""What the frozen layers of a biLM are worth: probes on four tasks, measured on their dev parts.

    python3 benchmarks/probes.py                                  # the shipped english-small
    python3 benchmarks/probes.py --bilm english-small my-bilm --untrained --json probes.json

The layers are frozen and computed once. A linear probe (scikit-learn) is trained on each layer
alone and on all, concatenated; the learned mix is a ScalarMix over standardised layers, trained
together with a linear layer (Keras). Penalties are chosen inside the training part, never on dev.
The tasks are parts of speech, named entities, word sense, and subjective or objective sentences.
Their files lie in the folder `eval` of the shared test data (KERAS_ELMO_SHARED, or `shared` beside
the repository), or where --data says.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import tensorflow as tf
from probing.data import data_directory
from probing.layers import embedder, untrained
from probing.tasks import TASKS

from keras_elmo.bilm.bilm import BiLM
from keras_elmo.presets.locate import locate

QUICK_SHARE = 0.1


def main(arguments=None):
    args = _parse(arguments)
    started = time.perf_counter()
    try:
        directory = data_directory(args.data)
        bilms = {place: BiLM.load(place) for place in args.bilm}
    except FileNotFoundError as error:
        sys.exit(str(error))
    if args.untrained:
        bilms["untrained"] = untrained(bilms[args.bilm[0]], args.seed)
    described = {place: _describe(place, bilm) for place, bilm in bilms.items()}
    print("\n".join(f"{place}: {text}" for place, text in described.items()), flush=True)
    tables = []
    for make_task in TASKS:
        if make_task.key in args.tasks:
            task = make_task(directory, args.seed, QUICK_SHARE if args.quick else 1.0)
            tables.append(_measure(task, bilms))
            print(_as_text(tables[-1]), flush=True)
    print("", *_order_of_layers(tables, args.bilm), sep="\n")
    seconds = time.perf_counter() - started
    print(f"\nseed {args.seed}, {seconds:.0f} seconds")
    if args.json:
        result = {"seed": args.seed, "seconds": seconds, "bilms": described, "tasks": tables}
        Path(args.json).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


def _parse(arguments):
    keys = [task.key for task in TASKS]
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "--bilm",
        nargs="+",
        default=["english-small"],
        metavar="PRESET|DIR",
        help="what to probe, a column each (default: english-small)",
    )
    parser.add_argument(
        "--untrained",
        action="store_true",
        help="one more column: the config of the first biLM with random weights",
    )
    parser.add_argument("--data", metavar="DIR", help=f"folder that holds {', '.join(keys)}")
    parser.add_argument("--tasks", nargs="+", choices=keys, default=keys, metavar="TASK")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", metavar="FILE", help="write the figures here too")
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"{QUICK_SHARE:.0%}% of the training parts, to see that it runs",
    )
    return parser.parse_args(arguments)


def _describe(place, bilm):
    config, weights = bilm.config, sum(array.size for array in bilm.arrays().values())
    filters = " ".join(f"{width}:{count}" for width, count in config.filters)
    return (
        f"{weights:,} weights; {config.n_layers} LSTM layers a direction, cell {config.lstm_dim:,},"
        f" projection {config.projection_dim}; character filters {filters}, "
        f"{config.n_highway} highway; tokens: {config.tokenizer}; {_vocabulary(place)}"
    )


def _vocabulary(place):
    """Which vocabulary the biLM was trained with, where its directory holds one."""
    directory = locate(place).directory
    path = directory and directory.joinpath("vocab.txt")
    if not path or not path.is_file():
        return "no vocabulary beside it"
    return f"vocabulary {len(path.read_text(encoding='utf-8').split()):,}"


def _measure(task, bilms):
    """All figures of a task: for JSON, and for `_as_text`."""
    columns, mixes = {}, {}
    for place, bilm in bilms.items():
        started = time.perf_counter()
        embed = embedder(bilm)
        layers = [embed(part) for part in task.sentences(bilm.tokenizer or "space")]
        embedded = time.perf_counter()
        columns[place], mixes[place] = task.probes(*layers)
        print(
            f"  {task.key}, {place}: layers {embedded - started:.0f} s, "
            f"probes {time.perf_counter() - embedded:.0f} s",
            file=sys.stderr,
        )
    columns["no biLM"] = task.baselines()
    return {
        **{name: getattr(task, name) for name in ("key", "title", "measures", "held_out", "aims")},
        "scores": columns,
        "learned_mix": mixes,
    }


def _as_text(table):
    columns = table["scores"]
    names = list(dict.fromkeys(name for column in columns.values() for name in column))
    width = 2 + max(map(len, names))
    lines = [f"\n{table['title']}. Held out: {table['held_out']}"]
    for index, measure in enumerate(table["measures"]):
        header = [*(Path(place).name for place in columns), "aim"]
        lines.append(f"{measure:<{width}}" + "".join(f"{name:>15}" for name in header))
        for name in names:
            values = [
                column[name][index] if name in column else None for column in columns.values()
            ]
            values.append(table["aims"].get(name) if index == 0 else None)
            lines.append(f"{name:<{width}}" + "".join(map(_cell, values)))
    for place, mix in table["learned_mix"].items():
        shares = " ".join(f"{share:.3f}" for share in mix["s"])
        lines.append(f"learned mix of {place}: s = {shares}, gamma = {mix['gamma']:.2f}")
    return "\n".join(lines)


def _cell(value):
    return f"{'' if value is None else format(value, '.4f'):>15}"


def _order_of_layers(tables, places):
    """Whether syntax is best at layer 1 and sense at layer 2, as in Peters et al. 2018."""
    of_paper = {"pos_ewt": "layer 1", "wsd_masc": "layer 2"}
    for table in (table for table in tables if table["key"] in of_paper):
        for place in places:
            column = table["scores"][place]
            scores = {name: column[name][0] for name in column if name.startswith("layer ")}
            best, expected = max(scores, key=scores.get), of_paper[table["key"]]
            verdict = "as in the paper" if best == expected else f"in the paper {expected} is"
            listed = ", ".join(f"{name} {value:.4f}" for name, value in scores.items())
            yield f"{table['title']}, {place}: {best} is the best LSTM layer, {verdict} ({listed})"


if __name__ == "__main__":
    tf.get_logger().setLevel("ERROR")
    main()
