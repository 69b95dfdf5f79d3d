import pytest
from matplotlib.font_manager import FontProperties, findfont

from keras_elmo.plots import confusion, lettering
from keras_elmo.plots.lettering import font_of, label_of, readable

ONLY_OTHERS = "\u20dd\u1d84"  # DejaVu Sans lacks them, STIX, which comes with matplotlib, does not
NOWHERE = "\U000e0041" + "\ue83a\uf123"


@pytest.fixture
def only_matplotlibs_fonts(monkeypatch):
    """No font of the system is found, only those that come with matplotlib."""
    paths = [path for path in lettering._other_fonts() if "mpl-data" in path]
    monkeypatch.setattr(lettering, "_other_fonts", lambda: tuple(paths))
    font_of.cache_clear()
    yield
    font_of.cache_clear()


def test_the_usual_font_is_taken_where_it_has_the_letters():
    assert font_of("ham, spam…") == FontProperties()


def test_another_font_is_taken_where_the_usual_one_lacks_letters(only_matplotlibs_fonts):
    text, font = label_of(ONLY_OTHERS, 1)
    assert text == ONLY_OTHERS
    assert findfont(font) != findfont(FontProperties())


def test_a_name_in_no_font_is_its_place(only_matplotlibs_fonts, check_whole):
    figure = confusion([[3, 0], [1, 2]], ["ham", "스팸"])
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["ham", "#2"]
    check_whole(figure)


def test_korean_names_are_drawn_without_a_warning(check_whole):
    check_whole(confusion([[3, 0], [1, 2]], ["정상", "스팸"]))


def test_letters_in_no_font_are_left_out_of_texts(only_matplotlibs_fonts):
    assert readable(f"at the {NOWHERE} bank", 20)[0] == "at the bank"
    assert readable(NOWHERE, 20)[0] == ""


def test_names_are_one_line_and_cut():
    assert label_of("a\tb\nc\x00d", 1)[0] == "a b c d"
    assert label_of(3.5, 1)[0] == "3.5"
    assert label_of("x" * 30, 1, longest=10)[0] == "x" * 9 + "…"


def test_a_file_that_is_no_font_has_no_letters(tmp_path):
    (tmp_path / "broken.ttf").write_bytes(b"no font")
    assert lettering._letters(str(tmp_path / "broken.ttf")) == frozenset()
