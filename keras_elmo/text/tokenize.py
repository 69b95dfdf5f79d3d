"""The two rules that cut a text into tokens: the same ops in graph, Python and command line."""

from collections.abc import Sequence

import tensorflow as tf

from keras_elmo.text.rules import TOKENIZERS


def tokenize(texts: tf.Tensor | Sequence[str | bytes], tokenizer: str = "space") -> tf.RaggedTensor:
    r"""Cuts texts into tokens.

    - `"space"` (TF-Hub's rule): tokens are what stands between space characters (U+0020). Tabs,
      line breaks and other Unicode spaces stay inside a token.
    - `"words"`: any white space separates, and so does punctuation: a mark is a token of its own,
      a run of the same mark one token (`...`, `!!`). Kept whole are URLs, e-mail addresses,
      `@names`, `#tags`, dotted abbreviations (`U.S.`), titles (`Mr.`), emoticons, numbers with
      their inner punctuation and unit or currency sign (`$1,000.50`, `7:30pm`, `9%`), and words
      with inner `-`, `'` or `&` (`don't`). Before that, curly quotes become straight ones, dashes
      `-` or `--`, an ellipsis `...`; zero-width characters go, and bytes that are not UTF-8 become
      U+FFFD. Tokens joined by spaces give the same tokens again.

    No rule ever gives an empty token; a text without tokens gives an empty row.

    Args:
        texts: string tensor, or what converts to one, of shape `(batch,)`.
        tokenizer: `"space"` or `"words"`.

    Returns:
        `tf.RaggedTensor`, string, of shape `(batch, None)`.

    Raises:
        TypeError: if `texts` does not hold strings.
        ValueError: if `texts` is not of rank 1, or `tokenizer` is unknown.

    Example:

    >>> tokenize(["Mr. Smith won't pay $5."], "words").to_list()
    [[b'Mr.', b'Smith', b"won't", b'pay', b'$5', b'.']]
    """
    split = _SPLIT.get(tokenizer)
    if split is None:
        raise ValueError(
            f"`tokenizer` must be one of {', '.join(map(repr, TOKENIZERS))}. "
            f"Received: {tokenizer!r}."
        )
    return split(_check_texts(texts))


def _check_texts(texts):
    texts = tf.convert_to_tensor(texts)
    if texts.dtype != tf.string:
        raise TypeError(
            "`texts` must be a string tensor of shape (batch,). "
            f"Received: dtype={texts.dtype.name}, shape={texts.shape}. "
            "Pass the texts themselves, not ids."
        )
    if texts.shape.rank not in (None, 1):
        raise ValueError(
            f"`texts` must be a string tensor of shape (batch,). Received: shape={texts.shape}. "
            "Put a single text in a list; flatten other shapes (`as_text` does)."
        )
    return tf.ensure_shape(texts, [None])


# As graphs, since calling ragged ops one by one costs milliseconds a batch.
_as_graph = tf.function(input_signature=[tf.TensorSpec([None], tf.string)], autograph=False)


@_as_graph
def _split_spaces(texts):
    pieces = tf.strings.split(texts, sep=" ")
    return tf.ragged.boolean_mask(pieces, pieces != "")


@_as_graph
def _split_words(texts):
    texts = tf.strings.regex_replace(_normalize(texts), f"{_MARK}+", r" \0 ")
    pieces = tf.strings.split(tf.strings.regex_replace(texts, _TOKEN, r" \0 "))
    split_again = tf.strings.split(_space_out_mark_runs(pieces.flat_values))
    return pieces.with_values(split_again).merge_dims(1, 2)


def _normalize(texts):
    texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8", errors="replace")
    for pattern, replacement in _REPLACEMENTS:
        texts = tf.strings.regex_replace(texts, pattern, replacement)
    return texts


def _space_out_mark_runs(pieces):
    """Puts a space between unequal neighbours in pieces made of marks outside ASCII, (n,) -> (n,).

    The token expression cannot do this: RE2 has no "same character again".
    """
    is_run = tf.strings.regex_full_match(pieces, f"{_MARK}{{2,}}")
    characters = tf.strings.unicode_split(tf.boolean_mask(pieces, is_run), "UTF-8")
    flat = characters.flat_values
    previous = tf.concat([[""], flat], axis=0)[:-1]
    spaced = tf.strings.join([tf.where(flat == previous, "", " "), flat])
    runs = tf.strings.reduce_join(characters.with_values(spaced), axis=1)
    return tf.tensor_scatter_nd_update(pieces, tf.where(is_run), runs)


_SPLIT = {"space": _split_spaces, "words": _split_words}

_REPLACEMENTS = (
    (r"[\t-\r\x1c-\x1f\x{85}\p{Z}]", " "),
    (  # soft hyphen, zero-width and direction marks, variation selectors, tag characters
        r"[\x{AD}\x{200B}-\x{200F}\x{202A}-\x{202E}\x{2060}-\x{2069}"
        r"\x{FE00}-\x{FE0F}\x{FEFF}\x{E0000}-\x{E01EF}]",
        "",
    ),
    (r"[\x{2018}-\x{201B}]", "'"),
    (r"[\x{201C}-\x{201F}]", '"'),
    (r"[\x{2014}\x{2015}\x{2E3A}\x{2E3B}]+| \x{2013} ", " -- "),  # em dashes; a spaced en dash
    (r"[\x{2010}-\x{2013}\x{2212}]", "-"),  # hyphens, other en dashes, minus
    (r"\x{2026}", "..."),
)

# Neither letter, digit nor ASCII. (White space is gone by then; currency signs join their number.)
_MARK = r"[^\p{L}\p{M}\p{N}_ -~£¥€]"

# The token expression: at each place the first alternative that fits is the token. It sees texts
# whose `_MARK`s stand apart, so what is left beyond ASCII can pass for a letter. That keeps the
# expression small: spelt with \p{L} it would overflow RE2's memory. \b knows ASCII letters only,
# hence `_STUCK_NUMBER`.
_BEYOND_ASCII = r"\x{80}-\x{A2}\x{A4}\x{A6}-\x{20AB}\x{20AD}-\x{10FFFF}"
_LETTER = rf"[0-9A-Za-z_{_BEYOND_ASCII}]"
_WORD = rf"{_LETTER}+(?:[-'&]{_LETTER}+)*"
_URL = (
    r"(?:(?i:https?|ftp)://|(?i:www)\.)"
    rf"(?:{_LETTER}|[-!#$%&'()*+,./:;=?@\[\\\]^{{|}}~])*(?:{_LETTER}|/)"
)
_EMAIL = (
    rf"{_LETTER}+(?:[.+-]{_LETTER}+)*@"
    rf"{_LETTER}+(?:-{_LETTER}+)*(?:\.{_LETTER}+(?:-{_LETTER}+)*)+"
)
_SITE_OR_FILE = (
    rf"{_LETTER}+(?:[.-]{_LETTER}+)*"
    r"\.(?:com|conf|edu|exe|gov|html?|io|js|net|org|pdf|php|py|sh|txt|uk)\b"
)
_ABBREVIATION = r"Ph\.D\.|(?:[A-Za-z\x{C0}-\x{24F}]\.){2,}"
_TITLE = r"(?:Capt|Col|Dr|Gen|Gov|Jr|Lt|Messrs|Mme|Mrs?|Ms|Prof|Rev|Sen|Sr|St|etc|vs)\."
_EMOTICON = r"[:;=]'?-?(?:[()|/\\]|[DOPop]\b)|<3\b"
_STUCK_NUMBER = rf"[0-9]+[{_BEYOND_ASCII}]{_LETTER}*(?:[-'&]{_LETTER}+)*"
_NUMBER = r"[$£¥€]?[0-9]+(?:[.,:/][0-9]+)*(?:%|(?:am|nd|pm|rd|s|st|th)?\b)"
_NAME_OR_TAG = rf"[@#]{_LETTER}+"
_RUN = "|".join(rf"\x{{{ord(mark):x}}}+" for mark in r"""!"#$%&'()*+,-./:;<=>?@[\]^`{|}~£¥€""")

_TOKEN = "|".join(
    [
        _URL,
        _EMAIL,
        _SITE_OR_FILE,
        _ABBREVIATION,
        _TITLE,
        _EMOTICON,
        _STUCK_NUMBER,
        _NUMBER,
        _WORD,
        _NAME_OR_TAG,
        _RUN,
    ]
)
