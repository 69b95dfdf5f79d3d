"""What a command reports to its user in one line."""


class UserError(Exception):
    """A fault in what the user gave: the command ends with status 2 and this one line.

    Args:
        message: what is wrong, where, and what to do.
        prog: the (sub)command that found it, None for the one that runs.
        status: the exit status; another than 2 where the user gave nothing wrong.
    """

    def __init__(self, message, prog=None, status=2):
        super().__init__(" ".join(str(message).split()))
        self.prog = prog
        self.status = status


def reason(error):
    """What an OSError says without its number and the name of a file under way; else all of it."""
    return getattr(error, "strerror", None) or error
