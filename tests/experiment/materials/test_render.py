"""How plain words are written for people and for models."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiment.errors import PluginError, UnknownNameError
from experiment.materials.render import RENDERINGS, render


@pytest.mark.parametrize(
    ("name", "words", "rendered"),
    [
        ("sentence_case", "the author laughs", "The author laughs."),
        ("sentence_case", "iPhones ring", "IPhones ring."),
        ("lower_case_tokens", "the author laughs", "the author laughs ."),
        ("lower_case_tokens", "The  Author laughs", "the author laughs ."),
        ("lower_case_tokens", "well-known cats, don't run", "well-known cats , don't run ."),
        ("lower_case_tokens", "Is she rusty?", "is she rusty ?"),
        ("split_tokens", "Ist die Ärztin müde, ja?", "Ist die Ärztin müde , ja ?"),
        ("split_tokens", "The author laughs", "The author laughs"),
        ("split_lower_case_tokens", "The author laughs", "the author laughs"),
        ("split_lower_case_tokens", "Is she rusty?", "is she rusty ?"),
        ("sentence_case", "is she rusty?", "Is she rusty?"),
        ("sentence_case", "she is rusty.", "She is rusty."),
        ("sentence_case", "she said \u201cno!\u201d", "She said \u201cno!\u201d"),
        ("running_text", "dov' \u00e8 l' isola ?", "Dov'\u00e8 l'isola?"),
        ("cased_tokens", "Is she rusty ?", "Is she rusty ?"),
        ("sentence_case", "\u0915\u094d\u092f\u093e \u0964", "\u0915\u094d\u092f\u093e \u0964"),
        ("as_written", "Is she rusty?", "Is she rusty?"),
        ("as_written", "she is rusty", "she is rusty"),
    ],
)
def test_words_are_rendered(name: str, words: str, rendered: str):
    assert render(name)(words) == rendered


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("वह किताब पढ़ता है।", "वह किताब पढ़ता है ।"),
        ("cafe\u0301 de\u0301ja\u0300-vu", "cafe\u0301 de\u0301ja\u0300-vu ."),
        ("هل الكِتَابُ، هنا؟", "هل الكِتَابُ ، هنا ؟"),
        ("می\u200cخورم", "می\u200cخورم ."),
        ("他们喜欢 学习。", "他们喜欢 学习 。"),
        ("ok 👨\u200d👩\u200d👧 🇮🇹!", "ok 👨\u200d👩\u200d👧 🇮🇹 !"),
        ("l\u2019isola, rock'n'roll", "l\u2019isola , rock'n'roll ."),
    ],
    ids=["Hindi", "decomposed", "Arabic", "Persian", "Chinese", "emoji", "apostrophes"],
)
def test_no_script_is_taken_apart_within_a_word(text: str, tokens: str):
    assert render("lower_case_tokens")(text) == tokens


@given(st.text())
def test_tokens_hold_every_character_but_the_spaces(text: str):
    found = render("lower_case_tokens")(text).removesuffix(".")
    assert "".join(found.split()) == "".join(text.lower().split()).removesuffix(".")


@given(st.text())
def test_a_text_as_written_is_the_text(text: str):
    assert render("as_written")(text) == text


@given(st.text())
def test_a_text_after_a_space_is_the_text_after_a_space(text: str):
    assert render("after_space")(text) == f" {text}"


@pytest.mark.parametrize(
    "name",
    sorted(
        {*RENDERINGS} - {"as_written", "after_space", "split_tokens", "split_lower_case_tokens"}
    ),
)
@given(words=st.lists(st.text("abcdeé'-", min_size=1), min_size=1))
def test_every_rendering_ends_the_sentence_and_has_single_spaces(name: str, words: list[str]):
    rendered = render(name)(" ".join(words))
    assert rendered.endswith(".")
    assert rendered == " ".join(rendered.split())


def test_an_unknown_rendering_is_answered_with_the_known_ones():
    with pytest.raises(UnknownNameError, match=r'"sentence_caes".*Did you mean "sentence_case"'):
        render("sentence_caes")


def test_a_rendering_of_ones_own_is_named_by_module_and_function():
    assert render("string:capwords")("the author laughs") == "The Author Laughs"


@pytest.mark.parametrize("name", ["no_such_module:write", "string:no_such_function", ":", "a b:c"])
def test_a_rendering_of_ones_own_that_is_not_there_is_named(name: str):
    with pytest.raises(PluginError, match=f'the rendering "{name}" cannot be imported'):
        render(name)
