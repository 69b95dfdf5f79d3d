"""This project's biLM, through its public package."""

import json
import time

import numpy as np
from arithmetic import gemm_rate

from contenders.measuring import measure
from keras_elmo import ELMoEmbedding, Embedder
from keras_elmo.bilm.bilm import BiLM

DTYPES = {"float32": "float32", "bfloat16": "mixed_bfloat16"}


def main(job):
    if "texts" in job:
        return _time_texts(job)
    found = measure(job, _load)
    return {**found, "gemm": gemm_rate(job["precision"])}


def embed(bilm, sentences):
    """All layers of tokenised sentences, `(batch, L + 1, time, dim)`, without the boundaries.

    No vector may be kept from call to call: the same sentences come again in each pass.
    """
    return np.asarray(bilm.embed_tokens(sentences).layers)[:, :, 1:-1]


def _load(job):
    bilm = BiLM.load(job["directory"], dtype=DTYPES[job["precision"]])
    if job["by_embedder"]:
        # It keeps no words, for the same sentences come again in each pass.
        embedder = Embedder(ELMoEmbedding(bilm, output="layers"), cached_words=1)
        return embedder.embed, lambda layers: layers
    return lambda sentences: embed(bilm, sentences), lambda layers: layers


def _time_texts(job):
    """The seconds of the best pass over each list of texts, `batch_size` texts a call."""
    bilm = BiLM.load(job["directory"], dtype=DTYPES[job["precision"]])
    with open(job["texts"], encoding="utf-8") as file:
        lists = json.load(file)
    best = []
    for texts in lists:
        passes = [_time_pass(bilm, texts, job["batch_size"]) for _ in range(1 + job["passes"])]
        best.append(min(passes[1:]))
    return {"pass_seconds": best, "gemm": gemm_rate(job["precision"])}


def _time_pass(bilm, texts, size):
    begin = time.perf_counter()
    for start in range(0, len(texts), size):
        embed(bilm, texts[start : start + size])
    return time.perf_counter() - begin
