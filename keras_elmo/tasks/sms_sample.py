"""The labelled sample of SMS messages that the package ships."""

from importlib import resources


def load_sms_sample() -> tuple[list[str], list[str]]:
    """Returns the texts and the labels of the SMS sample that the package ships.

    The messages were written for this project, in the style of real ones: about three quarters
    are `"ham"` (wanted), the rest `"spam"`. Telephone numbers, firms and people are invented.
    The order is shuffled once and for all, so that any long enough slice holds both classes.
    The sample shows that an installation works; it is far too small to measure a model with.

    Returns:
        `(texts, labels)`, two lists of str of equal length; each label is `"ham"` or `"spam"`.

    Example:
        ```python
        import keras_elmo

        texts, labels = keras_elmo.load_sms_sample()
        print(labels[0], texts[0])
        ```
    """
    file = resources.files("keras_elmo").joinpath("tasks").joinpath("sms_sample.tsv")
    _, *rows = file.read_text(encoding="utf-8").splitlines()
    labels, texts = zip(*(row.split("\t") for row in rows), strict=True)
    return list(texts), list(labels)
