import json
import re

import pytest
import tensorflow as tf

from keras_elmo.pretraining.strategy import is_first, make_strategy


class Resolver:
    def __init__(self, task_type, task_id, **jobs):
        self.task_type, self.task_id = task_type, task_id
        self._jobs = jobs

    def cluster_spec(self):
        return tf.train.ClusterSpec(self._jobs)


class Strategy:
    def __init__(self, resolver):
        self.cluster_resolver = resolver


@pytest.mark.parametrize(
    ("resolver", "first"),
    [
        (None, True),
        (Resolver("", None), True),
        (Resolver("worker", 0, worker=["a:1", "b:1"]), True),
        (Resolver("worker", 1, worker=["a:1", "b:1"]), False),
        (Resolver("chief", 0, chief=["a:1"], worker=["b:1"]), True),
        (Resolver("worker", 0, chief=["a:1"], worker=["b:1"]), False),
    ],
)
def test_one_machine_is_the_first(resolver, first):
    assert is_first(Strategy(resolver)) == first


@pytest.mark.parametrize(
    "config", [None, "", '{"cluster": {}}', '{"cluster": {"worker": ["a:1"]}}']
)
def test_without_a_cluster_it_is_the_device_that_is_there(monkeypatch, config):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    if config is not None:
        monkeypatch.setenv("TF_CONFIG", config)
    for name in ("auto", "one"):
        assert make_strategy(name).num_replicas_in_sync == 1
    with pytest.raises(ValueError, match="needs the environment variable TF_CONFIG"):
        make_strategy("multi-worker")


TWO = '{"cluster": {"worker": ["a:1", "b:2"]}, "task": '


FIRST = '{"type": "worker", "index": 0}}'


@pytest.mark.parametrize(
    ("config", "found"),
    [
        ("{", "'{', which is no JSON (Expecting property name"),
        ("[]", "'[]', where no object `cluster` lists addresses"),
        ('{"cluster": 3}', "'{\"cluster\": 3}', where no object `cluster` lists addresses"),
        ('{"cluster": {"worker": 3}}', '\'{"cluster": {"worker": 3}}\', where no object `cl'),
        ('{"cluster": {"worker": ["a:1", "b:1"]}}', "the task None, which has no type and index"),
        (TWO + "{}}", "the task {}, which has no type and index"),
        (TWO + '{"type": "worker"}}', "the task {'type': 'worker'}, which has no type and index"),
        (TWO + '{"type": "worker", "index": 2}}', "the task index 2; those of worker are 0 to 1"),
        (TWO + '{"type": "worker", "index": -1}}', "the task index -1; those of worker are"),
        (TWO + '{"type": [], "index": 0}}', "the task type [], and a cluster of worker."),
        (TWO + '{"type": "boss", "index": 0}}', "the task type 'boss', and a cluster of worker."),
        (TWO.replace("b:2", "b") + FIRST, "the address 'b', which is not host:port"),
        (TWO.replace("b:2", "b:port") + FIRST, "the address 'b:port', which is not host:port"),
        (TWO.replace("b:2", "b:70000") + FIRST, "the address 'b:70000', which is not host:port"),
    ],
)
def test_bad_tf_config_is_told_by_what_is_wrong(monkeypatch, config, found):
    monkeypatch.setenv("TF_CONFIG", config)
    message = "must hold JSON as .*Received: " + re.escape(found)
    with pytest.raises(ValueError, match=message):
        make_strategy()


def test_one_device_on_request_in_spite_of_a_cluster(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": {"worker": ["a:1", "b:1"]}}))
    assert make_strategy("one").num_replicas_in_sync == 1


def test_unknown_strategy():
    with pytest.raises(ValueError, match="`strategy` must be one of"):
        make_strategy("horovod")
