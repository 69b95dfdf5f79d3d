"""The file of results, and the tables that are made of it."""

import json
import statistics
from pathlib import Path

from claims.parts import SCORES, WEIGHTS
from keras_elmo.basics.files import whole_file


def read_results(path):
    """The results in a file: dict of part to task to options and tables; {} where there is none.

    Raises:
        ValueError: the file holds something else.
    """
    if path is None or not Path(path).exists():
        return {}
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))["parts"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"`--json` must name a file that this command wrote, or a new one. {path} holds "
            "something else. Give another name."
        ) from error


def write_results(path, results):
    """Writes them, whole or not at all."""
    _write(path, json.dumps({"parts": results}, indent=1) + "\n")


def part_tables(part, of_tasks):
    """The tables of a part in Markdown.

    Args:
        part: str.
        of_tasks: dict of task to options and tables, as `read_results` gives it.
    """
    tables = {}
    for result in of_tasks.values():
        for name, rows in result["tables"].items():
            tables.setdefault(name, {}).update(rows)
    return "\n\n".join(_table(part, name, rows) for name, rows in tables.items())


def put_tables(path, results):
    """Puts the tables of all parts between their marks in a Markdown file; a new file gets marks.

    Raises:
        ValueError: the file has no marks for a part.
    """
    path = Path(path)
    new = "\n\n".join("\n".join(_marks(part)) for part in results) + "\n"
    text = path.read_text(encoding="utf-8") if path.exists() else new
    for part, of_tasks in results.items():
        begin, end = _marks(part)
        before, found, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not (found and closed):
            raise ValueError(
                f"`--markdown` must name a new file, or one with the lines {begin} and {end}. "
                f"{path} lacks them. Add them where the table belongs."
            )
        text = f"{before}{begin}\n\n{part_tables(part, of_tasks)}\n\n{end}{after}"
    _write(path, text)


def _marks(part):
    return f"<!-- tables of {part} -->", f"<!-- end of {part} -->"


def _table(part, name, rows):
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    first = name if part == "amount" else ""
    if (part, name) == ("regularization", SCORES):
        first = "l2"
    head = [first, *columns]
    lines = [head, ["---"] * len(head)]
    for title, row in rows.items():
        best = None if name == WEIGHTS else max(map(statistics.fmean, row.values()))
        lines.append([title, *(_cell(row.get(column), best) for column in columns)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(values, best):
    """Mean and deviation of the seeds' values; bold where the mean is the row's highest."""
    if values is None:
        return ""
    mean = statistics.fmean(values)
    spread = f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else ""
    shown = f"{mean:.3f}"
    return f"**{shown}**{spread}" if best is not None and f"{best:.3f}" == shown else shown + spread


def _write(path, text):
    with whole_file(path) as file:
        file.write_text(text, encoding="utf-8")
