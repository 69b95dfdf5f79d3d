import pytest

from keras_elmo.plots import confusion, lettering
from keras_elmo.plots.lettering import families_of, label_of, readable

ONLY_OTHERS = "\u20dd\u1d84"  # DejaVu Sans lacks them, STIX, which comes with matplotlib, does not
NOWHERE = "\U000e0041" + "\ue83a\uf123"


@pytest.fixture
def only_matplotlibs_fonts(monkeypatch):
    """No font of the system is found, only those that come with matplotlib."""
    files = {name: path for name, path in lettering._files().items() if "mpl-data" in path}
    monkeypatch.setattr(lettering, "_files", lambda: files)
    families_of.cache_clear()
    yield
    families_of.cache_clear()


def test_fonts_are_those_that_have_the_letters_the_usual_one_first(only_matplotlibs_fonts):
    assert families_of("ham, spam…") == ("DejaVu Sans",)
    first, *others = families_of(f"ham {ONLY_OTHERS}")
    assert first == "DejaVu Sans"
    assert others
    assert families_of(NOWHERE) == ()


def test_letters_of_several_fonts_are_drawn_and_a_name_in_none_is_its_place(
    only_matplotlibs_fonts, check_whole
):
    names = [f"ham {ONLY_OTHERS}", "스팸"]
    figure = confusion([[3, 0], [1, 2]], names)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [names[0], "#2"]
    check_whole(figure)


def test_korean_names_are_drawn_without_a_warning(check_whole):
    check_whole(confusion([[3, 0], [1, 2]], ["정상", "스팸"]))


def test_letters_in_no_font_are_left_out_of_texts(only_matplotlibs_fonts):
    assert readable(f"at\nthe {NOWHERE} bank", 20) == "at the bank"
    assert readable(NOWHERE, 20) == ""


def test_names_are_one_line_and_cut():
    assert label_of("a\tb\nc\x00d", 1) == "a b c d"
    assert label_of(3.5, 1) == "3.5"
    assert label_of("x" * 30, 1, longest=10) == "x" * 9 + "…"
