"""How fast a biLM embeds text, beside simple-elmo and a module in the TF1-Hub format.

    python3 benchmarks/inference.py sentences.txt.gz --simple-elmo-python ../simple-elmo/bin/python
    python3 benchmarks/inference.py sentences.txt.gz --precision bfloat16
    python3 benchmarks/inference.py sentences.txt.gz --lengths      # cost a token by length of text

Random weights in the published shapes, the same for all contenders. The text has a sentence a line,
split on spaces; the first 512 sentences of 5 to 59 tokens are taken, in file order. All contenders
run on the same cores, each in its own process, in turn, and the best pass of each counts. Tokens
are real ones: no padding, no sentence boundaries.
"""

import argparse
import itertools
import json
import os
import platform
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf
from arithmetic import embedding_flops
from contenders.model import SHAPES, make_model
from contenders.processes import Contender, run, write
from contenders.report import print_contenders, print_lengths

from keras_elmo.basics.text_files import lines_of

SHORTEST, LONGEST = 5, 59  # tokens of the sentences taken
BATCH = 64
CALL = 512  # texts of a call where lengths are compared
LENGTHS = "20,100,500,2000,5000"
CORPORA = "500,5000"
REFERENCE = Contender(f"ours, batch {BATCH}", "native", BATCH)
LARGEST_DIFFERENCE = 1e-4
NO_SIMPLE_ELMO = """\
simple-elmo is left out. It needs an environment of its own, about 2.4 GB:
  python3 -m venv ../simple-elmo
  ../simple-elmo/bin/pip install simple-elmo tf_keras tensorflow
Then add --simple-elmo-python ../simple-elmo/bin/python"""


def main(arguments=None):
    args = _parse(arguments)
    machine = describe_machine(args.cores)
    print(machine, flush=True)
    if not args.lengths and not args.simple_elmo_python:
        print(NO_SIMPLE_ELMO)
    measure = _measure_lengths if args.lengths else _measure_contenders
    tables = []
    for model in args.models or (["small"] if args.lengths else ["original", "small"]):
        with tempfile.TemporaryDirectory() as scratch:
            tables.append(measure(model, args, Path(scratch)))
    if args.json:
        result = {"machine": machine, "models": tables}
        Path(args.json).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    worst = max(table.get("difference", 0.0) for table in tables)
    if not worst <= LARGEST_DIFFERENCE:
        sys.exit(f"The contenders' vectors differ by {worst:.1e}: one of them is wrong.")


def _parse(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("text", help="one sentence a line, split on spaces; plain or .gz")
    add("--models", type=_models, help=f"of {', '.join(SHAPES)}; default original,small")
    add("--sentences", type=int, default=512)
    add("--simple-elmo-python", metavar="PATH", help="the python of simple-elmo's environment")
    add("--precision", choices=["float32", "bfloat16"], default="float32", help="of ours; "
        "bfloat16 is measured beside float32, with its error")  # fmt: skip
    add("--lengths", type=_numbers, nargs="?", const=LENGTHS, metavar="N,N",
        help=f"ours alone, by the length of the texts; default {LENGTHS}")  # fmt: skip
    add("--corpora", type=_numbers, default=CORPORA, metavar="N,N",
        help=f"with --lengths, by the number of sentences; default {CORPORA}")  # fmt: skip
    add("--cores", type=int, default=2)
    add("--rounds", type=int, default=2, help="processes a contender")
    add("--passes", type=int, default=2, help="timed passes a process")
    add("--json", metavar="FILE", help="write the figures there, too")
    return parser.parse_args(arguments)


def _models(text):
    names = text.split(",")
    if not set(names) <= set(SHAPES):
        raise argparse.ArgumentTypeError(f"must be of {', '.join(SHAPES)}; received {text!r}")
    return names


def _numbers(text):
    return [int(number) for number in text.split(",")]


def _measure_contenders(model, args, scratch):
    """Runs all contenders on one model, in turn."""
    config = make_model(model, scratch / "bilm")
    sentences = take(read_sentences(args.text, SHORTEST, LONGEST), args.sentences, args.text)
    write(scratch / "sentences.json", sentences)
    run("hub_module", scratch, {"cores": args.cores})
    contenders = make_contenders(args)
    job = {"compared": min(BATCH, args.sentences), "cores": args.cores, "passes": args.passes}
    runs = {contender: [] for contender in contenders}
    for number, contender in itertools.product(range(args.rounds), contenders):
        print(f"{model}, round {number + 1}: {contender.name}", file=sys.stderr, flush=True)
        runs[contender].append(contender.run(scratch, job))
    rows = [
        _row(contender, runs[contender], sentences, config, scratch) for contender in contenders
    ]
    fastest = max(row["tokens_per_second"] for row in rows if not row["ours"])
    for row in rows:
        row["ratio"] = row["tokens_per_second"] / fastest
    table = {
        "model": model,
        "options": config.to_options(),
        "sentences": len(sentences),
        "tokens": sum(map(len, sentences)),
        "contenders": rows,
        "difference": max(row["difference"] for row in rows if row["precision"] == "float32"),
    }
    print_contenders(table, job["compared"])
    return table


def make_contenders(args):
    contenders = []
    if args.simple_elmo_python:
        name = f"simple-elmo, batch {BATCH}"
        contenders.append(Contender(name, "simple", BATCH, args.simple_elmo_python))
    contenders.append(Contender(f"TF1-Hub module, batch {BATCH}", "hub", BATCH))
    at_once = Contender(f"ours, {args.sentences} at once", "native", args.sentences)
    by_embedder = Contender("ours, Embedder", "native", args.sentences, by_embedder=True)
    contenders += [REFERENCE, at_once, by_embedder]
    if args.precision != "float32":
        contenders += [
            Contender(f"{ours.name}, {args.precision}", "native", ours.batch_size,
                      precision=args.precision)
            for ours in (REFERENCE, at_once)
        ]  # fmt: skip
    return contenders


def _row(contender, runs, sentences, config, scratch):
    """The best of a contender's runs, its distance from ours, and for ours the arithmetic."""
    found = {key: min(run[key] for run in runs) for key in runs[0]}
    found["peak_mb"] = max(run["peak_mb"] for run in runs)
    reference = np.load(REFERENCE.vectors(scratch))
    errors = np.load(contender.vectors(scratch)) - reference
    row = {
        "name": contender.name,
        "ours": contender.is_ours,
        "precision": contender.precision,
        "tokens_per_second": sum(map(len, sentences)) / found["pass_seconds"],
        **found,
        "difference": float(np.abs(errors).max()),
    }
    if contender.precision != "float32":
        rms = [np.sqrt(np.mean(np.square(x), axis=(1, 2))) for x in (errors, reference)]
        row["rms_errors"] = (rms[0] / rms[1]).tolist()
    if contender.is_ours and not contender.by_embedder:
        row["gemm"] = max(run["gemm"] for run in runs)
        row.update(_rate(row, embedding_flops(config, sentences, contender.batch_size)))
    return row


def _rate(row, flops):
    rate = (flops["lstm_flops"] + flops["encoder_flops"]) * row["tokens_per_second"]
    return {**flops, "flops_per_second": rate, "share": rate / row["gemm"]}


def _measure_lengths(model, args, scratch):
    """Runs ours on texts of several lengths and on corpora of several sizes."""
    config = make_model(model, scratch / "bilm")
    texts = dict(texts_by_length(args))
    write(scratch / "texts.json", list(texts.values()))
    job = {
        "texts": str(scratch / "texts.json"),
        "batch_size": CALL,
        "cores": args.cores,
        "passes": args.rounds * args.passes,
        "precision": args.precision,
    }
    found = run("native", scratch, job)
    rows = []
    for (name, chosen), seconds in zip(texts.items(), found["pass_seconds"], strict=True):
        tokens_per_second = sum(map(len, chosen)) / seconds
        row = {"name": name, "tokens_per_second": tokens_per_second, "gemm": found["gemm"]}
        rows.append({**row, **_rate(row, embedding_flops(config, chosen, CALL))})
    table = {"model": model, "precision": args.precision, "texts": rows}
    print_lengths(table, CALL)
    return table


def texts_by_length(args):
    """Names and token lists: the words of the file cut to each length; its first sentences."""
    for length in args.lengths:
        count = 64 if length <= 2000 else 16
        words = itertools.chain.from_iterable(read_sentences(args.text))
        words = take(words, count * length, args.text)
        texts = [words[start : start + length] for start in range(0, len(words), length)]
        yield f"{count} texts of {length:,} tokens", texts
    for count in args.corpora:
        sentences = read_sentences(args.text, SHORTEST, LONGEST)
        yield f"{count:,} sentences", take(sentences, count, args.text)


def read_sentences(path, shortest=1, longest=None):
    """The token lists of a text file's lines that have so many tokens."""
    for line in lines_of(path):
        tokens = [token for token in line.decode().split(" ") if token]
        if shortest <= len(tokens) <= (longest or len(tokens)):
            yield tokens


def take(items, count, path):
    """The first `count` items as a list. Exits where there are fewer."""
    taken = list(itertools.islice(items, count))
    if len(taken) < count:
        sys.exit(f"{path} is too short: {count:,} sentences or words needed, {len(taken):,} found.")
    return taken


def describe_machine(cores):
    """The processor, the cores that are used, and the version of TensorFlow."""
    name, flags = platform.processor() or platform.machine(), ""
    if os.path.exists("/proc/cpuinfo"):
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        name, flags = (
            (re.findall(rf"^{key}\s*: (.*)$", text, re.MULTILINE) or [default])[0]
            for key, default in (("model name", name), ("flags", flags))
        )
    if hasattr(os, "sched_getaffinity"):
        cores = min(cores, len(os.sched_getaffinity(0)))
    bfloat16 = "has" if re.search("avx512_bf16|amx_bf16", flags) else "has no"
    return f"{name}, {cores} cores, {bfloat16} bfloat16 products; TensorFlow {tf.__version__}"


if __name__ == "__main__":
    main()
