"""Where downloaded models are kept, and how a file or folder gets there whole or not at all."""

import contextlib
import os
import secrets
import shutil

VARIABLE = "KERAS_ELMO_CACHE"


def cache_directory():
    """The folder of downloaded models: `$KERAS_ELMO_CACHE`, else the user's cache of the system."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return os.path.abspath(os.path.expanduser(chosen))
    import pooch

    return os.fspath(pooch.os_cache("keras_elmo"))


def model_folder(name):
    """The folder of a model in the cache; it need not exist."""
    return os.path.join(cache_directory(), name.replace("/", "--"))


def make_folder(folder):
    """Makes a folder of the cache.

    Raises:
        OSError: it cannot be made; the message tells of `KERAS_ELMO_CACHE`.
    """
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from None


def cannot_write(path, error):
    """The OSError for a path of the cache that could not be written."""
    return OSError(
        f"{path} could not be written ({error.strerror or error}). Nothing was left there. Free "
        f"space, or set {VARIABLE} to a folder that you may write to."
    )


@contextlib.contextmanager
def temporary_beside(path):
    """Yields a name beside `path` that nobody else uses; what is there afterwards is removed."""
    folder, name = os.path.split(os.path.abspath(path))
    unique = f"{os.getpid()}-{secrets.token_hex(4)}"
    temporary = os.path.join(folder, f".{name}.{unique}.part")
    try:
        yield temporary
    finally:
        if os.path.isdir(temporary):
            shutil.rmtree(temporary, ignore_errors=True)
        else:
            with contextlib.suppress(FileNotFoundError):
                os.remove(temporary)
