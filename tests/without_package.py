"""Programs that run in a new process where an import of keras_elmo fails."""

import json
import os
import subprocess
import sys

BLOCKED = 'import sys\nsys.modules["keras_elmo"] = None\n'
SAVED_MODEL_CLI = """
import json
from tensorflow.python.tools import saved_model_cli
for arguments in map(json.loads, sys.argv[1:]):
    sys.argv[1:] = arguments
    try:
        saved_model_cli.main()
    except SystemExit as end:
        if end.code:
            raise
"""


def run_without_package(code, *arguments):
    """What a program prints."""
    command = [sys.executable, "-c", BLOCKED + code, *map(os.fspath, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def saved_model_cli(*calls):
    """What `saved_model_cli` prints, called with each of several lists of arguments."""
    lists = [json.dumps([os.fspath(argument) for argument in call]) for call in calls]
    return run_without_package(SAVED_MODEL_CLI, *lists)
