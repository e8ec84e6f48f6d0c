"""How plain words are written for people and for models."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiment.errors import UnknownNameError
from experiment.materials.render import RENDERINGS, render


@pytest.mark.parametrize(
    ("name", "words", "rendered"),
    [
        ("sentence_case", "the author laughs", "The author laughs."),
        ("sentence_case", "iPhones ring", "IPhones ring."),
        ("lower_case_tokens", "the author laughs", "the author laughs ."),
        ("lower_case_tokens", "The  Author laughs", "the author laughs ."),
        ("lower_case_tokens", "well-known cats, don't run", "well-known cats , don't run ."),
    ],
)
def test_words_are_rendered(name: str, words: str, rendered: str):
    assert render(name)(words) == rendered


@pytest.mark.parametrize("name", [*RENDERINGS])
@given(words=st.lists(st.text("abcdeé'-", min_size=1), min_size=1))
def test_every_rendering_ends_the_sentence_and_has_single_spaces(name: str, words: list[str]):
    rendered = render(name)(" ".join(words))
    assert rendered.endswith(".")
    assert rendered == " ".join(rendered.split())


def test_an_unknown_rendering_is_answered_with_the_known_ones():
    with pytest.raises(UnknownNameError, match=r'"sentence_caes".*Did you mean "sentence_case"'):
        render("sentence_caes")
