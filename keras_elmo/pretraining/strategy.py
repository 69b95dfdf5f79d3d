"""The devices and machines that a run is spread over, by TensorFlow's own strategies."""

import json
import os

import tensorflow as tf

from keras_elmo.basics.checks import check_choice
from keras_elmo.pretraining.options import STRATEGIES


def make_strategy(name: str = "auto") -> tf.distribute.Strategy:
    """The strategy that training runs under.

    Args:
        name: `"one"` device; `"mirrored"`, all GPUs of this machine; `"multi-worker"`, the
            machines of the environment variable TF_CONFIG; `"auto"`: the machines where TF_CONFIG
            names a cluster, else the GPUs where there are several, else the current strategy,
            which is one device by default.

    Returns:
        Strategy. One of several machines must be made before anything else is computed, and waits
        until all machines are there.

    Raises:
        ValueError: TF_CONFIG is not what TensorFlow documents, or is missing.
    """
    check_choice("strategy", name, STRATEGIES)
    cluster = _cluster() if name in ("auto", "multi-worker") else {}
    if name == "multi-worker" and not cluster:
        raise ValueError(
            "The strategy 'multi-worker' needs the environment variable TF_CONFIG, which names "
            "the cluster's machines. Received: none. Set it on each machine, as in "
            "https://www.tensorflow.org/guide/distributed_training#setting_up_the_tf_config_environment_variable"
        )
    if name == "multi-worker" or (name == "auto" and cluster):
        return tf.distribute.MultiWorkerMirroredStrategy()
    if name == "mirrored" or (name == "auto" and len(tf.config.list_physical_devices("GPU")) > 1):
        return tf.distribute.MirroredStrategy()
    return tf.distribute.get_strategy()


def is_first(strategy: tf.distribute.Strategy) -> bool:
    """Whether this machine is the one that evaluates, writes and reports."""
    resolver = strategy.cluster_resolver
    if resolver is None or not resolver.task_type:
        return True
    has_chief = "chief" in resolver.cluster_spec().jobs
    return resolver.task_type == "chief" or (not has_chief and resolver.task_id == 0)


def _cluster():
    """The addresses of TF_CONFIG by kind of machine; empty where there is no second machine."""
    text = os.environ.get("TF_CONFIG", "")
    try:
        config = json.loads(text or "{}")
    except ValueError as error:
        raise _bad_config(f"{text!r}, which is no JSON ({error})") from None
    cluster = config.get("cluster", {}) if isinstance(config, dict) else None
    lists = list(cluster.values()) if isinstance(cluster, dict) else [None]
    if not all(isinstance(found, list) for found in lists):
        raise _bad_config(f"{text!r}, where no object `cluster` lists addresses")
    addresses = [address for found in lists for address in found]
    if len(addresses) < 2:
        return {}
    for address in addresses:
        _check_address(address)
    _check_task(cluster, config.get("task"))
    return cluster


def _check_address(address):
    host, _, port = str(address).rpartition(":")
    if not host.strip() or not port.isdecimal() or not 0 < int(port) < 2**16:
        raise _bad_config(f"the address {address!r}, which is not host:port")


def _check_task(cluster, task):
    if not isinstance(task, dict) or not {"type", "index"} <= set(task):
        raise _bad_config(f"the task {task!r}, which has no type and index of this machine")
    kind, index = task["type"], str(task["index"])
    if kind not in tuple(cluster):
        raise _bad_config(f"the task type {kind!r}, and a cluster of {', '.join(cluster)}")
    last = len(cluster[kind]) - 1
    if not index.isdecimal() or int(index) > last:
        raise _bad_config(f"the task index {task['index']!r}; those of {kind} are 0 to {last}")


def _bad_config(found):
    return ValueError(
        "The environment variable TF_CONFIG must hold JSON as "
        '\'{"cluster": {"worker": ["host:port", ...]}, '
        '"task": {"type": "worker", "index": 0}}\'. '
        f"Received: {found}. Correct it, or unset it to train on this machine alone."
    )
