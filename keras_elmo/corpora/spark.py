"""ELMo vectors of a text column of a Spark DataFrame."""

import contextlib
import dataclasses
import functools
import io
import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from keras_elmo.basics.by_length import neighbours
from keras_elmo.basics.checks import check_count
from keras_elmo.bilm.bilm import BiLM
from keras_elmo.bilm.config import BiLMConfig
from keras_elmo.embedding.elmo_embedding import ELMoEmbedding
from keras_elmo.embedding.embedder import Embedder
from keras_elmo.embedding.outputs import output_shape
from keras_elmo.presets.locate import locate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_BYTES = 64 << 20  # of vectors in one Arrow batch: Python and Spark each hold it a few times.
OPTIONS = "options.json"

_SHIPPING = (
    "Put it on a disk that all machines share, ship it with `--files` or `--archives` and give its "
    "bare name, or give the biLM itself, which Spark sends: source=keras_elmo.BiLM.load(place)."
)


def embed(
    df: "DataFrame",
    column: str,
    output_column: str = "elmo",
    source: str | os.PathLike | Sequence[str | os.PathLike] | BiLM = "english-small",
    output: str = "default",
    tokenizer: str | None = None,
    max_tokens: int | None = None,
    batch_size: int = 1024,
) -> "DataFrame":
    """Adds the ELMo vectors of a text column to a Spark DataFrame.

    Nothing is computed before Spark runs the job; then each Python worker loads the biLM once, for
    all its tasks, and gives TensorFlow `spark.task.cpus` threads. All errors of arguments come from
    this call. The vectors are those of `Embedder(source, ...)`, whatever the partitions.

    Args:
        df: also a streaming DataFrame or one of Spark Connect.
        column: Name of the column of texts, of type string. The vector of null is null; that of a
            text without a token is 0, and its list of token vectors is empty.
        output_column: Name of the new column.
        source: Name of a preset, directory, archive or pair (options, weights), all of which
            the workers must find as the driver does: there, or among the files that Spark ships,
            with the same content. Or `BiLM`, which Spark broadcasts.
        output: What to compute, a name from the table of `ELMoEmbedding`. "default" gives
            array<float>, "layers" array<array<array<float>>>, layer by layer, and all others
            array<array<float>>, token by token.
        tokenizer: Rule that splits texts, "space" or "words"; None takes that of the source.
        max_tokens: Tokens that are kept of a text; None keeps all.
        batch_size: Texts to run together at most. Fewer are where their vectors would take more
            than 64 MB.

    Returns:
        `df` and the new column, in the same rows and partitions.

    Raises:
        ImportError: PySpark is not installed.
        TypeError: `df` is no Spark DataFrame, `column` holds no strings, or `source` is none of the
            above.
        ValueError: There is no such column, the new one is there already, or an argument is out of
            range.
        FileNotFoundError: Nothing is at `source`.

    Example:

    ```py
    import keras_elmo.corpora.spark

    df = spark.createDataFrame([(1, "free entry now"), (2, None)], "id int, text string")
    vectors = keras_elmo.corpora.spark.embed(df, "text").select("id", "elmo")
    ```
    """
    types = _pyspark().sql.types
    _check_columns(df, column, output_column, types.StringType)
    batch_size = check_count("batch_size", batch_size)
    model, shape = _model(df, source, output, tokenizer, max_tokens)
    array = types.FloatType()
    for _ in shape[1:]:
        array = types.ArrayType(array)
    schema = types.StructType([*df.schema.fields, types.StructField(output_column, array)])
    task = functools.partial(
        _embedded, model, shape, df.columns.index(column), schema.names, batch_size
    )
    # Spark takes a dot or a backtick in its own columns' names for syntax; the schema does not.
    plain = df.toDF(*(f"column{number}" for number in range(len(df.columns))))
    return plain.mapInArrow(task, schema)


@dataclasses.dataclass(frozen=True)
class _Model:
    """What a worker needs to make the driver's Embedder. Those that are equal give the same."""

    fingerprint: str
    dtype: str
    output: str
    tokenizer: str
    max_tokens: int | None
    place: str | tuple | None = dataclasses.field(compare=False)
    weights: object = dataclasses.field(compare=False)  # Broadcast of bytes, where no place is.

    def load(self):
        if self.weights is not None:
            return _from_bytes(self.weights.value, self.dtype)
        bilm = self._load_from_place()
        if bilm.fingerprint() != self.fingerprint:
            raise ValueError(
                f"The biLM at {self.place!r} must be that of the driver, sha256 "
                f"{self.fingerprint}. Received on a worker: sha256 {bilm.fingerprint()}. Give "
                "driver and workers the same files, or the same version of keras_elmo for a preset."
            )
        return bilm

    def _load_from_place(self):
        place = _found(self.place, _pyspark().SparkFiles.getRootDirectory())
        try:
            return BiLM.load(place, dtype=self.dtype)
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"The biLM must be at {self.place!r} on every worker, as it is on the driver. "
                f"Received: {error} {_SHIPPING}"
            ) from None


def _pyspark():
    try:
        import pyarrow  # noqa: F401
        import pyspark.sql
    except ImportError as error:
        raise ImportError(
            "keras_elmo.corpora.spark needs PySpark 3.5 or later with PyArrow. Received: "
            f'{error}. Install them: pip install "keras_elmo[spark]".'
        ) from error
    return pyspark


def _check_columns(df, column, output_column, string_type):
    if not hasattr(df, "mapInArrow"):
        raise TypeError(
            f"`df` must be a Spark DataFrame. Received: {type(df).__name__}. "
            "Make one with `spark.createDataFrame`, or use `keras_elmo.Embedder`."
        )
    if column not in df.columns or len(set(df.columns)) < len(df.columns):
        raise ValueError(
            f"`column` must be the name of one of the columns {df.columns}, which must all have "
            f"different names. Received: column={column!r}."
        )
    data_type = df.schema.fields[df.columns.index(column)].dataType
    if not isinstance(data_type, string_type):
        raise TypeError(
            f"`column` must hold texts, of type string. Received: {column!r} of type "
            f"{data_type.simpleString()}. Cast numbers to string; join arrays of tokens with "
            'concat_ws(" ", ...) and split them by tokenizer="space".'
        )
    taken = [name for name in df.columns if name.lower() == str(output_column).lower()]
    if not isinstance(output_column, str) or not output_column or taken:
        raise ValueError(
            "`output_column` must be the name of a new column; Spark takes upper and lower case "
            f"for the same. Received: output_column={output_column!r}, and columns {df.columns}."
        )


def _model(df, source, output, tokenizer, max_tokens):
    """The checked `_Model`, and the shape `(rows, ...)` of its output, None where it varies."""
    if not isinstance(output, str):
        raise TypeError(
            f"`output` must be the name of one output. Received: output={output!r}. "
            "Call `embed` again on the result for a second column."
        )
    context = _context(df)
    bilm = source if isinstance(source, BiLM) else _load_on_driver(source, context)
    layer = ELMoEmbedding(bilm, output=output, tokenizer=tokenizer, max_tokens=max_tokens)
    is_object = isinstance(source, BiLM)
    model = _Model(
        bilm.fingerprint(),
        bilm.dtype_policy.name,
        output,
        layer.tokenizer,
        layer.max_tokens,
        place=None if is_object else _plain(source),
        weights=_broadcast(bilm, context) if is_object else None,
    )
    return model, output_shape(output, None, None, layer.num_layers, layer.output_dim)


def _context(df):
    """The SparkContext, or None where there is none: on Spark Connect."""
    try:
        return df.sparkSession.sparkContext
    except _pyspark().errors.PySparkException:
        return None


def _load_on_driver(source, context):
    if not isinstance(source, (str, os.PathLike, tuple, list)):
        raise TypeError(
            "`source` must be the name of a preset, a directory, an archive, a pair (options, "
            f"weights) or a BiLM. Received: {type(source).__name__}. "
            "Of an ELMoEmbedding give `layer.source.bilm`."
        )
    shipped = None if context is None else _pyspark().SparkFiles.getRootDirectory()
    try:
        return BiLM.load(_found(_plain(source), shipped))
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"`source` must be found on the driver, and by the same name on every worker. "
            f"Received: {error} {_SHIPPING}"
        ) from None


def _plain(place):
    """A place as a string or a tuple of strings."""
    if isinstance(place, (tuple, list)):
        return tuple(os.fspath(path) for path in place)
    return os.fspath(place)


def _found(place, shipped):
    """`place`, or what lies by that name in `shipped`, the folder of the files that Spark ships."""
    if isinstance(place, tuple):
        return tuple(_found(path, shipped) for path in place)
    if shipped is None or locate(place).is_on_disk:
        return place
    candidate = os.path.join(shipped, place)
    return candidate if os.path.exists(candidate) else place


def _broadcast(bilm, context):
    if context is None:
        raise ValueError(
            "`source` must be a name or a path on Spark Connect, which cannot broadcast. "
            "Received: a BiLM. Save it with `bilm.save(directory)` where all machines find it."
        )
    return context.broadcast(_to_bytes(bilm))


def _to_bytes(bilm):
    """A biLM as bytes in NumPy's npz format, which holds no code."""
    buffer = io.BytesIO()
    options = np.frombuffer(bilm.config.to_json(), np.uint8)
    np.savez(buffer, **{OPTIONS: options}, **bilm.arrays())
    return buffer.getvalue()


def _from_bytes(content, dtype):
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        arrays = dict(file)
    bilm = BiLM(BiLMConfig.from_json(arrays.pop(OPTIONS).tobytes()), dtype=dtype)
    bilm.set_arrays(arrays)
    return bilm


@functools.lru_cache(maxsize=2)
def _embedder(model):
    """The Embedder of this worker process. Two are kept, for jobs that take turns."""
    _limit_threads()
    return Embedder(
        model.load(),
        output=model.output,
        tokenizer=model.tokenizer,
        max_tokens=model.max_tokens,
    )


def _limit_threads():
    """Lets TensorFlow, in a Python worker, run as many threads as Spark counts cores for the task.

    It would take all cores of the machine; where it runs already, it stays as it was set up.
    """
    task = _pyspark().TaskContext.get()
    if task is None:
        return
    with contextlib.suppress(RuntimeError):
        tf.config.threading.set_intra_op_parallelism_threads(task.cpus())
        tf.config.threading.set_inter_op_parallelism_threads(task.cpus())


def _embedded(model, shape, column, names, batch_size, batches):
    """Yields Arrow record batches of these names, the last a new column, of a partition."""
    import pyarrow as pa

    sizes = [size for size in shape if size is not None]
    most_tokens = MOST_BYTES // (4 * math.prod(sizes)) if len(shape) > 2 else math.inf
    for batch in batches:
        if not batch.num_rows:
            continue
        embedder = _embedder(model)
        nulls = batch.column(column).is_null().to_numpy(zero_copy_only=False)
        # As bytes, since Spark's strings may hold bytes that are not UTF-8.
        texts = batch.column(column).cast(pa.large_binary()).fill_null(b"").to_pylist()
        tokens = embedder.tokens(texts)
        lengths = tokens.row_lengths().numpy().tolist()
        for piece in neighbours(range(len(lengths)), lengths.__getitem__, most_tokens, batch_size):
            begin, end = piece[0], piece[-1] + 1
            vectors = list(embedder.embed(tokens[begin:end]))
            array = _nested_array(vectors, nulls[begin:end], depth=len(shape) - 1)
            rows = batch.slice(begin, end - begin)
            fields = [f.with_name(name) for f, name in zip(rows.schema, names, strict=False)]
            schema = pa.schema([*fields, pa.field(names[-1], array.type)])
            yield pa.RecordBatch.from_arrays([*rows.columns, array], schema=schema)


def _nested_array(vectors, nulls, depth):
    """Arrow array of float32 lists, nested `depth` times, of an array of so many axes for each row.

    What `vectors` holds where `nulls` is True is left out.
    """
    import pyarrow as pa

    shown = [array for array, is_null in zip(vectors, nulls, strict=True) if not is_null]
    values = pa.array(_joined([array.ravel() for array in shown], np.float32))
    for axis in range(depth - 1, 0, -1):
        counts = [np.full(math.prod(array.shape[:axis]), array.shape[axis]) for array in shown]
        values = pa.ListArray.from_arrays(pa.array(_offsets(_joined(counts, np.int64))), values)
    counts = [0 if is_null else len(array) for array, is_null in zip(vectors, nulls, strict=True)]
    # Arrow takes a null offset for a null row.
    offsets = pa.array(_offsets(counts), mask=np.append(nulls, False))
    return pa.ListArray.from_arrays(offsets, values)


def _offsets(counts):
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)


def _joined(arrays, dtype):
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype)
