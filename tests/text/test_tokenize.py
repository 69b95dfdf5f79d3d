import gzip
import itertools

import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_elmo.text.rules import TOKENIZERS
from keras_elmo.text.tokenize import tokenize


def tokens_of(texts, tokenizer="words"):
    return [[t.decode("utf-8") for t in row] for row in tokenize(texts, tokenizer).to_list()]


def words(text):
    return tokens_of([text])[0]


def test_u05_spaces_tabs_and_line_breaks():
    texts = ["  call   me ", "call me", "call\tme", "call\nme"]
    assert tokenize(texts).to_list() == [
        [b"call", b"me"],
        [b"call", b"me"],
        [b"call\tme"],
        [b"call\nme"],
    ]
    assert tokens_of(texts, "words") == [["call", "me"]] * 4


def test_space_keeps_everything_but_the_space_character():
    texts = ["a\xa0b c\u3000d", "don’t  stop!", "\t"]
    assert tokens_of(texts, "space") == [["a\xa0b", "c\u3000d"], ["don’t", "stop!"], ["\t"]]


def test_space_keeps_bytes_that_are_not_utf_8():
    assert tokenize([b"caf\xe9 \xff"]).to_list() == [[b"caf\xe9", b"\xff"]]


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_text_without_tokens_gives_an_empty_row(tokenizer):
    assert tokenize(["", "   ", "a"], tokenizer).to_list() == [[], [], [b"a"]]
    assert tokenize(tf.constant([], tf.string), tokenizer).shape[0] == 0


def test_words_splits_a_message_as_a_reader_would():
    text = (
        "Free entry in 2 a wkly comp!! Text FA to 87121 (std txt rate)T&C's apply :) £1.50 u.s.a. "
        "e.g. Dr. Smith's well-known e-mail me@x.org http://a.b/c?d=1."
    )
    expected = (
        "Free entry in 2 a wkly comp !! Text FA to 87121 ( std txt rate ) T&C's apply :) £1.50 "
        "u.s.a. e.g. Dr. Smith's well-known e-mail me@x.org http://a.b/c?d=1 ."
    )
    assert words(text) == expected.split(" ")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        # URLs, addresses, names
        (
            "see https://a.b/c?d=1&e=(2), or www.a-b.co/x.",
            "see https://a.b/c?d=1&e=(2 ) , or www.a-b.co/x .",
        ),
        ('<a href="http://x.y/">', '< a href = " http://x.y/ " >'),
        ("(HTTP://X.Y)", "( HTTP://X.Y )"),
        ("first.last+tag@mail.example.org!", "first.last+tag@mail.example.org !"),
        ("RT @a_b: #Tag2 @ # x@y", "RT @a_b : #Tag2 @ # x @y"),
        (
            "USA.gov, resolv.conf. end.Next foo.community",
            "USA.gov , resolv.conf . end . Next foo . community",
        ),
        # abbreviations and titles
        ("U.S.-led Ph.D. at 5 a.m. in U.S.A", "U.S. - led Ph.D. at 5 a.m. in U.S. A"),
        ("Mr. and Mrs. J. Smith, Jr. etc. etc", "Mr. and Mrs. J . Smith , Jr. etc. etc"),
        ("xMr. vs.", "xMr . vs."),
        # emoticons
        (":) ;-) :'( =D :/ :))) <3", ":) ;-) :'( =D :/ :) )) <3"),
        (":Dog :D. :P <30", ": Dog :D . :P < 30"),
        # numbers
        (
            "$1,000.50, £5, €10 ¥7 9% 7:30pm 1/2 1st-5th",
            "$1,000.50 , £5 , €10 ¥7 9% 7:30pm 1/2 1st - 5th",
        ),
        (
            "10-year 3D-Printed 1960's 18F's 50k $5k -3 1.",
            "10 - year 3D-Printed 1960 ' s 18F's 50k $ 5k - 3 1 .",
        ),
        ("192.168.0.1 12:30 24/7 10,000th 3월", "192.168.0.1 12:30 24/7 10,000th 3월"),
        # words
        (
            "don't rock 'n' roll dogs' --well-known-- a--b",
            "don't rock ' n ' roll dogs ' -- well-known -- a -- b",
        ),
        ("AT&T's Q&A me & you", "AT&T's Q&A me & you"),
        ("snake_case and/or x+y", "snake_case and / or x + y"),
        (
            "naïve café 한국어 문장 हिन्दी Łódź cafe\u0301",
            "naïve café 한국어 문장 हिन्दी Łódź cafe\u0301",
        ),
        # marks
        ("what?!... no!!! ((a)) [b]{c}", "what ? ! ... no !!! (( a )) [ b ] { c }"),
        ("ok😂😂😍😍😍👍🏽 5°C ££ ¡Hola! «a»", "ok 😂😂 😍😍😍 👍 🏽 5 ° C ££ ¡ Hola ! « a »"),
        ("a\x00\x00b\x01", "a \x00\x00 b \x01"),
        # the same spelling as in the corpus
        ("“Don’t”, she‘s…", "\" Don't \" , she's ..."),
        ("a—b a – b 1990–1995 a‐b −5", "a -- b a -- b 1990 - 1995 a-b - 5"),
        ("zero\u200bwidth\ufeff ❤\ufe0f soft\xadhyphen", "zerowidth ❤ softhyphen"),
    ],
)
def test_words_worked_by_hand(text, tokens):
    assert words(text) == tokens.split(" ")


@pytest.mark.parametrize(
    "space",
    [
        "\t",
        "\n",
        "\r\n",
        "\x0b",
        "\x0c",
        "\x1c",
        "\x85",
        "\xa0",
        "\u1680",
        "\u2003",
        "\u2028",
        "\u202f",
        "\u3000",
    ],
)
def test_words_separates_at_every_white_space(space):
    assert words(f"{space}call{space}{space}me{space}") == ["call", "me"]


def test_words_reads_invalid_bytes_as_replacement_characters():
    texts = [b"caf\xe9 ok", b"\xff\xfea", b"\xed\xa0\x80", b"x\xf0\x9f"]
    assert tokens_of(texts) == [["caf", "�", "ok"], ["��", "a"], ["���"], ["x", "�"]]


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_same_in_graph_and_in_a_dataset(tokenizer):
    texts = ["Hello, world!! 😂😍", "", "a  b\tc"]
    eager = tokenize(texts, tokenizer).to_list()
    signature = [tf.TensorSpec(None, tf.string)]
    graph = tf.function(lambda x: tokenize(x, tokenizer), input_signature=signature)
    assert graph(tf.constant(texts)).to_list() == eager
    dataset = (
        tf.data.Dataset.from_tensor_slices(texts).batch(3).map(lambda x: tokenize(x, tokenizer))
    )
    assert next(iter(dataset)).to_list() == eager


def test_a_row_does_not_depend_on_its_neighbours():
    texts = ["Hello, world!!", "", "😂😍!", "Mr. X"]
    assert tokens_of(texts) == [words(text) for text in texts]


PIECES = st.sampled_from(
    [*"$5&@#_…—–“’‘-%.,![]\\^`�£€😂😍🏽é한½٣", "\u0301", "\ufe0f", "\u200d", "\x00", "\x85", "\xa0"]
    + [
        "http://",
        "www.",
        "a.b",
        "x@y.org",
        ".com",
        "Mr.",
        "etc.",
        "e.g.",
        "Ph.D.",
        ":)",
        ":D",
        "<3",
    ]
    + ["1st", "10:30", "pm", "--", "'", "//", " ", "\u3000", "\t"]
)
MESSY = st.lists(
    st.one_of(st.lists(PIECES, max_size=9).map("".join), st.text(max_size=12)),
    min_size=1,
    max_size=20,
)


@settings(max_examples=150, deadline=None)
@given(MESSY)
def test_words_tokens_are_stable_and_without_white_space(texts):
    first = tokens_of(texts)
    assert all(token.split() == [token] for token in itertools.chain(*first))
    assert tokens_of([" ".join(row) for row in first]) == first


KEPT = st.text(
    st.characters(exclude_categories=("Cs", "Cf", "Zs"), exclude_characters="–—―⸺⸻"), max_size=30
)


@settings(max_examples=100, deadline=None)
@given(KEPT)
def test_words_loses_no_text(text):
    changed = {ord("…"): "..."} | dict.fromkeys(range(0x2018, 0x201C), "'")
    changed |= dict.fromkeys(range(0x201C, 0x2020), '"') | dict.fromkeys(range(0x2010, 0x2014), "-")
    changed |= {0x2212: "-"} | dict.fromkeys([*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)], "")
    assert "".join(words(text)) == "".join(text.translate(changed).split())


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=20))
def test_space_equals_python_split_on_the_space_character(text):
    assert tokens_of([text], "space") == [[piece for piece in text.split(" ") if piece]]


def test_words_gives_the_corpus_lines_their_own_tokens_back(shared):
    with gzip.open(shared / "corpus" / "valid.txt.gz", "rb") as file:
        lines = file.read().split(b"\n")[:-1]
    rows = tokenize(lines, "words").to_list()
    same = sum(line.split(b" ") == row for line, row in zip(lines, rows, strict=True))
    assert same / len(lines) >= 0.999


def test_words_expression_stays_within_re2_memory(capfd):
    scripts = ["".join(map(chr, range(start, start + 64))) for start in range(0x40, 0x3000, 64)]
    assert len(words(" ".join(scripts))) > 300
    assert "out of memory" not in capfd.readouterr().err


def test_unknown_tokenizer_is_an_error():
    with pytest.raises(ValueError, match="must be one of 'space', 'words'. Received: 'bpe'"):
        tokenize(["a"], "bpe")


@pytest.mark.parametrize("texts", ["a b", [["a"], ["b"]]])
def test_another_rank_is_an_error(texts):
    with pytest.raises(ValueError, match=r"`texts` must be a string tensor of shape \(batch,\)"):
        tokenize(texts)


def test_numbers_are_an_error():
    with pytest.raises(TypeError, match="Received: dtype=float32"):
        tokenize([3.5])
