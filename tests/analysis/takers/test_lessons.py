"""Prompts with right answers: the answer is what a perfect judge gives, in every way of asking."""

from itertools import islice
from random import Random

import pytest

from analysis.takers.lesson_text import Lessons
from experiment.errors import StudyError
from experiment.materials.read import load_items
from experiment.materials.render import render
from experiment.studies.load import load_study
from experiment.takers.prompt import Prompter
from experiment.takers.readings.base import READINGS, load_reading
from experiment.takers.session import Screens

PROMPTED = [name for name in READINGS.built_in if load_reading(name).prompted]


def lessons(study_name: str, reading: str, n_items: int | None = None) -> Lessons:
    study = load_study(study_name)
    shown = render(study.materials.shown_to_people)
    screens = Screens(study, shown, shown)
    items = list(load_items(study))[:n_items]
    prompter = Prompter(study, screens)
    return Lessons(screens, prompter, [load_reading(reading)], items, Random(1))


@pytest.mark.parametrize("reading", PROMPTED)
def test_the_answer_is_the_right_one(reading: str):
    items = load_items(load_study("minimal"))
    shown = render(load_study("minimal").materials.shown_to_people)
    good, bad = zip(*((shown(item.good), shown(item.bad)) for item in items), strict=True)
    seen = set[str]()
    for lesson in islice(lessons("minimal", reading).draw(), 300):
        lines = lesson.ask.prompt.split("\n\n")[-1].splitlines()
        labelled = dict(line.partition(". ")[::2] for line in lines if line[1:3] == ". ")
        if reading == "forced_choice":
            assert labelled[lesson.answer] in good
        elif reading == "acceptability":
            assert labelled[lesson.answer] == ("yes" if lines[0] in good else "no")
        else:
            worst = lesson.ask.prompt.partition(" (")[0].rpartition(" ")[2]
            assert (lesson.answer == worst) == (lines[0] in bad)
            assert lesson.answer in (lesson.ask.answers[0], lesson.ask.answers[-1])
        seen.add(lesson.answer)
    assert len(seen) == 6


def test_a_verdict_is_yes_for_the_good_text_alone():
    items = load_items(load_study("minimal"))
    shown = render(load_study("minimal").materials.shown_to_people)
    good = {shown(item.good) for item in items}
    seen = set[str]()
    for lesson in islice(lessons("minimal", "acceptability").verdicts(), 50):
        question, _, text = lesson.ask.prompt.partition("? ")
        assert question == "Does this sentence sound acceptable"
        assert lesson.answer == ("yes" if text in good else "no")
        seen.add(lesson.answer)
    assert seen == {"yes", "no"}


def test_a_study_with_too_few_items_beside_its_lists_is_refused():
    with pytest.raises(StudyError, match="too few for the examples in prompts"):
        lessons("minimal", "rating", 3)
