"""What Peters et al. 2018 claim for ELMo, measured with this package's biLM and data.

    python3 benchmarks/paper_claims.py --data FOLDER --json claims.json --markdown claims.md

mix: learned layer weights, equal ones, one layer alone. place: ELMo at the input of a tagger's
LSTM, at its output, at both. glove: with and without GloVe. amount: scores by number of training
examples, beside scikit-learn without a biLM. layers: syntax and word sense by layer.
regularization: the penalty on the layer weights. All settings are fixed (`claims/study.py`), or
chosen inside the training part by the probes; test and dev rows choose nothing.

FOLDER holds `sms_spam/spam.csv`, `eval` with the sets of `benchmarks/probes.py`, and
`glove/glove.6B.100d.10k.txt.gz`. `--json` keeps each result as it comes; what is in that file
already, measured with the same options, is not measured again.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import tensorflow as tf
from claims.data import check_folder
from claims.parts import PARTS
from claims.report import part_tables, put_tables, read_results, write_results
from claims.study import QUICK, Sizes, Study

from keras_elmo.bilm.bilm import BiLM


def main(arguments=None):
    args = _parse(arguments)
    try:
        check_folder(args.data)
        results = read_results(args.json)
        bilm = BiLM.load(args.bilm)
    except (FileNotFoundError, ValueError) as error:
        _fail(error)
    sizes = QUICK if args.quick else Sizes()
    options = {"bilm": args.bilm, "sha256": bilm.fingerprint(), "seeds": args.seeds}
    options = json.loads(json.dumps(options | {"sizes": sizes._asdict()}))
    with tempfile.TemporaryDirectory() as scratch:
        study = Study(Path(args.data), bilm, sizes, args.seeds, Path(scratch))
        for part in args.parts:
            _measure(study, part, options, results, args.json)
            print(f"\n{part}\n\n{part_tables(part, results[part])}", flush=True)
    if args.markdown:
        try:
            put_tables(args.markdown, {part: results[part] for part in PARTS if part in results})
        except (OSError, ValueError) as error:
            _fail(error)


def _parse(arguments):
    shared = os.environ.get("KERAS_ELMO_SHARED") or Path(__file__).parents[2] / "shared"
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "--data",
        metavar="FOLDER",
        default=shared,
        help="default: KERAS_ELMO_SHARED, or `shared` beside the repository",
    )
    parser.add_argument("--bilm", default="english-small", metavar="PRESET|DIR")
    parser.add_argument("--seeds", type=_count, default=3, metavar="N")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART")
    parser.add_argument("--json", metavar="FILE", help="keep results here, and take them from here")
    parser.add_argument(
        "--markdown", metavar="FILE", help="put the tables between their marks here"
    )
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it runs")
    return parser.parse_args(arguments)


def _count(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1. Received: {text}.")
    return int(text)


def _measure(study, part, options, results, path):
    """Adds the results of a part's tasks that are not there yet, and saves after each."""
    run, tasks = PARTS[part]
    kept = results.setdefault(part, {})
    for task in tasks:
        if kept.get(task, {}).get("options") == options:
            continue
        started = time.perf_counter()
        kept[task] = {"options": options, "tables": run(study, task)}
        print(f"  {part}, {task}: {time.perf_counter() - started:.0f} s", file=sys.stderr)
        if path:
            write_results(path, results)


def _fail(error):
    print(f"paper_claims.py: {error}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    tf.get_logger().setLevel("ERROR")
    main()
