"""What a command reports to its user in one line."""


class UserError(Exception):
    """A fault in what the user gave: the command ends with status 2 and this one line.

    Args:
        message: what is wrong, where, and what to do.
        prog: the (sub)command that found it, None for the one that runs.
    """

    def __init__(self, message, prog=None):
        super().__init__(" ".join(str(message).split()))
        self.prog = prog
