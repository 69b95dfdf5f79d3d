"""The devices and machines that a run is spread over, by TensorFlow's own strategies."""

import json
import os

import tensorflow as tf

STRATEGIES = ("auto", "one", "mirrored", "multi-worker")


def make_strategy(name="auto"):
    """The strategy that training runs under.

    Args:
        name: `"one"` device; `"mirrored"`, all GPUs of this machine; `"multi-worker"`, the
            machines of the environment variable TF_CONFIG; `"auto"`: the machines where TF_CONFIG
            names a cluster, else the GPUs where there are several, else one device.

    Returns:
        `tf.distribute.Strategy`. A multi-worker strategy must be made before anything else is
        computed, and waits until all machines are there.

    Raises:
        ValueError: TF_CONFIG is not what TensorFlow documents, or is missing.
    """
    if name not in STRATEGIES:
        raise ValueError(f"`strategy` must be one of {STRATEGIES}. Received: {name!r}.")
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


def is_first(strategy):
    """Whether this machine is the one that evaluates, writes and reports."""
    resolver = strategy.cluster_resolver
    if resolver is None or not resolver.task_type:
        return True
    has_chief = "chief" in resolver.cluster_spec().jobs
    return resolver.task_type == "chief" or (not has_chief and resolver.task_id == 0)


def _cluster():
    text = os.environ.get("TF_CONFIG", "")
    if not text:
        return {}
    try:
        config = json.loads(text)
        cluster = config.get("cluster", {})
        machines = sum(len(tasks) for tasks in cluster.values())
        if machines > 1:
            _check_task(cluster, config["task"])
    except (ValueError, AttributeError, TypeError, LookupError):
        raise ValueError(
            "The environment variable TF_CONFIG must hold JSON as "
            '\'{"cluster": {"worker": ["host:port", ...]}, '
            '"task": {"type": "worker", "index": 0}}\'. '
            f"Received: {text!r}. Correct it, or unset it to train on this machine alone."
        ) from None
    return cluster if machines > 1 else {}


def _check_task(cluster, task):
    """Raises one of several errors where this machine's task or an address is no such thing."""
    for address in (address for tasks in cluster.values() for address in tasks):
        host, port = address.rsplit(":", 1)
        if not host.strip() or not 0 < int(port) < 2**16:
            raise ValueError(address)
    if not 0 <= int(task["index"]) < len(cluster[task["type"]]):
        raise IndexError(task["index"])
