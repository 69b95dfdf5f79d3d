"""Reading and writing of weight files in the bilm-tf layout."""

import contextlib
import warnings

import h5py
import numpy as np

from keras_elmo.bilm.names import PATTERN, weight_shapes

MOST_EXPANSION = 1100  # by decompression; zeros come near it


@contextlib.contextmanager
def open_weights(file, config, source, strict=False):
    """Open a weight file: keys and shapes are checked at once, each tensor's values as it is read.

    Yields an iterator of pairs of HDF5 key and float32 array, in the order of the name table; a
    large biLM so need not be in memory twice. `source` is the file's name for messages. With
    `strict`, datasets beyond the biLM's (a softmax, say) are an error.
    """
    with _readable(source):
        weights = h5py.File(file, "r")
    with weights:
        with _readable(source):
            found = _datasets(weights)
        table = _without_absent_projection(weight_shapes(config), found, config)
        _check_keys(table, found, source, strict)
        for key, row in table.items():
            _check_dataset(key, row, found[key], source)
            _check_stored(key, weights[key], source)
        yield _tensors(weights, table, config, source)


def _tensors(weights, table, config, source):
    for key in weight_shapes(config):
        if key not in table:
            yield key, _identity_projection(key, config)
            continue
        with _readable(source):
            array = weights[key][()].astype(np.float32, copy=False)
        _check_finite(key, array, source)
        yield key, array


@contextlib.contextmanager
def _readable(source):
    """Turns what h5py raises on a damaged file, which can be nearly anything, into one error."""
    try:
        yield
    except (OSError, RuntimeError, LookupError, TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"{source} must be a complete HDF5 file of biLM weights. Received a file that h5py "
            f"cannot read ({_first_line(error)}). Download or copy it again; in a pair the options "
            "file comes first."
        ) from None


def write_weights(path, arrays, dtype="float32"):
    """Write tensors under their HDF5 keys; ValueError where one is not finite in `dtype`."""
    with h5py.File(path, "w") as weights:
        for key, array in arrays.items():
            weights.create_dataset(key, data=_finite(key, array, dtype))


def _finite(key, array, dtype):
    with np.errstate(over="ignore"):
        converted = np.asarray(array).astype(dtype)
    if not np.isfinite(converted).all():
        raise ValueError(
            f"Weights must be finite in {dtype}. Received NaN, infinity or too large a number in "
            f"'{key}'. Train with a lower learning rate, or write float32."
        )
    return converted


def _first_line(error):
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _datasets(weights):
    found = {}

    def note(name, item):
        if isinstance(item, h5py.Dataset):
            found[name] = (item.shape, item.dtype)

    weights.visititems(note)
    return found


def _without_absent_projection(table, found, config):
    """bilm-tf writes no projection where the filters already give `projection_dim` features."""
    features = sum(count for _, count in config.filters)
    if features != config.projection_dim or any(key.startswith("CNN_proj/") for key in found):
        return table
    return {key: row for key, row in table.items() if not key.startswith("CNN_proj/")}


def _identity_projection(key, config):
    dim = config.projection_dim
    return np.eye(dim, dtype=np.float32) if key.endswith("W_proj") else np.zeros(dim, np.float32)


def _check_keys(table, found, source, strict):
    missing = [key for key in table if key not in found]
    extra = [key for key in found if key not in table]
    contradicting = [key for key in extra if PATTERN.fullmatch(key)]
    if missing:
        raise ValueError(
            f"{source} must hold the dataset(s) {_named(missing)}. "
            f"Received: {len(found)} datasets, with {_named(extra) or 'none'} beyond those "
            "expected. Check that the options file belongs to these weights (lstm.n_layers, "
            "char_cnn.filters, char_cnn.n_highway)."
        )
    if contradicting:
        raise ValueError(
            f"{source} must fit its options file. Received datasets of a larger biLM: "
            f"{_named(contradicting)}. Check lstm.n_layers, char_cnn.filters and "
            "char_cnn.n_highway, or give the options file of these weights."
        )
    if extra and strict:
        raise ValueError(
            f"{source} must hold the biLM's datasets only (`strict=True`). "
            f"Received also: {_named(extra)}. Load with `strict=False` to ignore them."
        )
    if extra:
        _note_ignored(extra, source)


def _note_ignored(extra, source):
    warnings.warn(f"{source}: ignored datasets that no biLM has: {_named(extra)}.", stacklevel=7)


def _named(keys, most=6):
    shown = ", ".join(f"'{key}'" for key in keys[:most])
    return shown if len(keys) <= most else f"{shown} and {len(keys) - most} more"


def _check_dataset(key, row, found, source):
    (shape, options), (found_shape, dtype) = row, found
    if found_shape != shape:
        raise ValueError(
            f"{source}: dataset '{key}' must have shape {shape}, which the option(s) {options} "
            f"decide. Received: {found_shape}. Give the options file of these weights."
        )
    if dtype.kind != "f":
        raise ValueError(
            f"{source}: dataset '{key}' must hold floating point numbers. "
            f"Received: {dtype}. Download or convert the weights again."
        )


def _check_stored(key, dataset, source):
    """Raises where reading would take far more memory than the file has bytes for it."""
    stored = dataset.id.get_storage_size()
    if dataset.external or dataset.is_virtual or dataset.nbytes > MOST_EXPANSION * stored:
        raise ValueError(
            f"{source}: dataset '{key}' must lie in the file with all its values. Received: "
            f"{stored:,} bytes for {dataset.nbytes:,}. Download or convert the weights again."
        )


def _check_finite(key, array, source):
    if not np.isfinite(array).all():
        raise ValueError(
            f"{source}: dataset '{key}' must be finite. Received NaN or infinity. "
            "Download or train the weights again."
        )
