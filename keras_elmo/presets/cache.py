"""Where downloaded models are kept."""

import contextlib
import os
from collections.abc import Iterator

VARIABLE = "KERAS_ELMO_CACHE"


def cache_directory() -> str:
    """The folder of downloaded models: `$KERAS_ELMO_CACHE`, else the user's cache of the system."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return os.path.abspath(os.path.expanduser(chosen))
    import pooch

    return os.fspath(pooch.os_cache("keras_elmo"))


def model_folder(name: str) -> str:
    """The folder of a model in the cache; it need not exist."""
    return os.path.join(cache_directory(), name.replace("/", "--"))


@contextlib.contextmanager
def writing(path: str) -> Iterator[None]:
    """Makes the folder of a path in the cache; what keeps the block from writing is told."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        yield
    except OSError as error:
        raise OSError(
            f"{path} could not be written ({error.strerror or error}). Nothing was left there. "
            f"Free space, or set {VARIABLE} to a folder that you may write to."
        ) from None
