"""What prompts say, word for word, and where sentences differ."""

import tomllib
from pathlib import Path
from string import Formatter

import pytest

from experiment.authoring.check import require_sound
from experiment.errors import StudyError, UnknownNameError
from experiment.materials.render import sentence_case
from experiment.studies.load import load_study
from experiment.takers import prompt as prompt_module
from experiment.takers.prompt import Context, Prompter, Way, instructions_of, labels_of
from experiment.takers.readings.base import (
    Situation,
    load_reading,
    order_in_prompt,
    reorder_to_answers,
)
from experiment.takers.readings.difference import differing
from experiment.takers.session import Screens, taker_sessions

TABLES = tomllib.loads(Path(prompt_module.__file__).with_name("words.toml").read_text("utf-8"))


@pytest.mark.parametrize("language", TABLES)
def test_every_language_has_the_same_words_with_the_same_places(language: str):
    def places(text: str) -> set[str | None]:
        return {name for _, name, _, _ in Formatter().parse(text) if name}

    assert list(TABLES[language]) == list(TABLES["en"])
    for key, text in TABLES[language].items():
        assert places(text) == places(TABLES["en"][key])


def test_prompts_have_words_wherever_a_new_study_has_texts():
    folder = Path(prompt_module.__file__).parents[1] / "authoring" / "texts"
    assert {path.name for path in folder.iterdir() if path.is_dir()} == set(TABLES)


def test_an_unknown_language_and_an_unknown_set_of_labels_are_refused():
    with pytest.raises(StudyError, match='no words in the language "eo"'):
        prompt_module.words_of("eo")
    with pytest.raises(
        UnknownNameError, match=r'no set of labels "leters".*Did you mean "letters"'
    ):
        labels_of("leters", 2)


def prompts() -> str:
    study = load_study("minimal")
    screens = Screens(study, sentence_case, sentence_case)
    [session] = taker_sessions(study, require_sound(study, 1).built, screens, 1)
    prompter, said = Prompter(study, screens), []
    for name in ("forced_choice", "acceptability", "rating"):
        for swapped in (False, True):
            way = Way(Context.ZERO_SHOT, "letters", swapped)
            situation = Situation(way, prompter, instructions_of(study))
            said += [
                f"{name} {way.order} {ask.answers}\n{ask.prompt}"
                for ask in load_reading(name).asks(session.trials[0], situation)
            ]
    before = [(trial, trial.answers[0]) for trial in session.trials[:2]]
    way = Way(Context.HISTORY, "numbers")
    situation = Situation(way, prompter, instructions_of(study), before)
    [ask] = load_reading("forced_choice").asks(session.trials[2], situation)
    return "\n\n----\n\n".join([*said, f"history {ask.answers}\n{ask.prompt}"])


def test_prompts_are_those_that_were_reviewed(file_regression):
    file_regression.check(prompts() + "\n", newline="\n")


def test_instructions_lose_the_marks_of_their_layout_and_nothing_else():
    text = instructions_of(load_study("marvin_linzen_2018"))
    assert "**" not in text and "#" not in text and "*" not in text
    assert "Each screen shows two sentences, one above the other." in text
    assert "1. The letters on the desk are old." in text


@pytest.mark.parametrize(
    ("sentences", "before", "own"),
    [
        (("the cat sleeps .", "the cat sleep ."), "the cat", ("sleeps", "sleep")),
        (("a cat ran", "cats ran"), "", ("a cat", "cats")),
        (("the cat ran", "the black cat ran"), "the", ("cat", "black cat")),
        (("it is so", "it is so too"), "it is", ("so", "so too")),
        (("a b c", "a x c", "a y c"), "a", ("b", "x", "y")),
        (("a a", "a a a"), "a", ("a", "a a")),
    ],
)
def test_what_differs_is_found_with_a_word_for_every_sentence(sentences, before, own):
    assert differing(sentences) == (before, own)


def test_swapped_answers_stand_in_the_other_order_and_their_values_come_back():
    assert [order_in_prompt(3, swapped=False), order_in_prompt(3, swapped=True)] == [
        (0, 1, 2),
        (2, 1, 0),
    ]
    assert reorder_to_answers((2, 1, 0), [-1.0, -2.0, -3.0]) == (-3.0, -2.0, -1.0)
    assert reorder_to_answers((0, 2), [-1.0, -2.0])[0] == -1.0
