"""The shipped SMS sample is what its documentation says."""

import csv
import re
from collections import Counter
from importlib import resources

import pandas as pd
import pytest

from keras_elmo.tasks.sms_sample import load_sms_sample


def words(text):
    return re.findall(r"[a-z0-9']+", text.lower())


def runs_of_words(text, length=6):
    tokens = words(text)
    return {tuple(tokens[i : i + length]) for i in range(len(tokens) - length + 1)}


def test_sample_is_of_the_promised_size():
    texts, labels = load_sms_sample()
    counts = Counter(labels)
    assert len(texts) == len(labels) >= 320
    assert set(counts) == {"ham", "spam"}
    assert counts["spam"] >= 80
    assert counts["ham"] >= 230


def test_sample_is_what_pandas_reads():
    file = resources.files("keras_elmo").joinpath("tasks", "sms_sample.tsv")
    with file.open(encoding="utf-8", newline="") as opened:
        frame = pd.read_csv(opened, sep="\t", quoting=csv.QUOTE_NONE, keep_default_na=False)
    texts, labels = load_sms_sample()
    assert list(frame.columns) == ["label", "text"]
    assert frame["text"].tolist() == texts
    assert frame["label"].tolist() == labels


def test_sample_has_only_clean_texts():
    texts, _ = load_sms_sample()
    assert [text for text in texts if text != text.strip() or len(words(text)) < 1] == []
    assert [
        text for text in texts if re.search(r"[\x00-\x1f\x7f\x85\u2028\u2029\ufffd]", text)
    ] == []
    assert max(map(len, texts)) <= 480


def test_sample_repeats_no_message():
    texts, _ = load_sms_sample()
    assert [text for text, n in Counter(" ".join(words(t)) for t in texts).items() if n > 1] == []


def test_sample_has_no_near_duplicates():
    texts, _ = load_sms_sample()
    seen = Counter(run for text in texts for run in runs_of_words(text))
    assert [run for run, n in seen.items() if n > 1] == []


@pytest.mark.parametrize("fraction", [0.1, 0.2, 0.5])
def test_both_classes_are_in_both_parts_of_a_split_in_file_order(fraction):
    _, labels = load_sms_sample()
    cut = round(len(labels) * (1 - fraction))
    whole = labels.count("spam") / len(labels)
    for part in (labels[:cut], labels[cut:]):
        assert part.count("spam") / len(part) == pytest.approx(whole, abs=0.12)


def test_sample_shares_no_run_of_words_with_the_sms_spam_collection(shared):
    lines = (shared / "sms_spam" / "SMSSpamCollection").read_text(encoding="utf-8").splitlines()
    published = [line.partition("\t")[2] for line in lines]
    runs = set().union(*map(runs_of_words, published))
    texts, _ = load_sms_sample()
    assert [text for text in texts if runs_of_words(text) & runs] == []
    assert {" ".join(words(text)) for text in published} & {
        " ".join(words(t)) for t in texts
    } == set()
