"""What every reading promises, whatever study it is used on."""

from math import isclose

import pytest

from analysis.takers.plan import make_plan
from analysis.takers.taking import make_sessions, take_sessions
from experiment.errors import ParallaxError
from experiment.studies.load import load_study
from experiment.takers.prompt import Context
from experiment.takers.readings.base import READINGS, load_reading
from experiment.takers.session import Form
from lm.answering.answerer import Reply
from tests.analysis.takers.sessions import EVERY_LABEL, EXAMPLES, PRESENTATIONS, knowing, planned

STUDIES = {
    "pairs": "minimal",
    "completions": str(EXAMPLES / "prefix_completion"),
    "options": str(PRESENTATIONS / "german_case"),
    "ratings": str(PRESENTATIONS / "ratings"),
}


def combinations():
    for study in STUDIES:
        for name in READINGS.built_in:
            form = Form.RATE if study == "ratings" else Form.CHOOSE
            if form in load_reading(name).forms:
                yield study, name


@pytest.fixture(scope="module")
def plans():
    return {
        (study, name): planned(STUDIES[study], [name], n_sessions=2)
        for study, name in combinations()
    }


@pytest.mark.parametrize(("study", "name"), list(combinations()))
def test_a_model_that_knows_the_answers_is_read_as_one(plans, study: str, name: str):
    plan = plans[study, name]
    [reading] = plan.readings
    for sitting in take_sessions(plan, reading, knowing(plan)):
        for read in sitting.read:
            judged = plan.screens.response.score_answer(read.trial.arrangement, read.given)
            right = plan.screens.response.correct_answer(read.trial.arrangement)
            assert read.given == right, (sitting.ref, read.asks)
            assert read.outcome == "answered"
            assert judged.chose_good in (True, None)


@pytest.mark.parametrize(("study", "name"), list(combinations()))
def test_every_text_is_asked_about_and_every_cell_is_asked(plans, study: str, name: str):
    plan = plans[study, name]
    [reading] = plan.readings
    sittings = make_sessions(plan, reading)
    cells = {sitting.way for sitting in sittings}
    assert len(cells) == (2 * len(EVERY_LABEL) if reading.prompted else 1)
    assert len({sitting.ref for sitting in sittings}) == len(sittings)
    for sitting in sittings:
        trial = sitting.session.trials[0]
        asks = reading.asks(trial, plan.situation(sitting.session.list_, sitting.way, []))
        everything = "\n".join(f"{ask.prompt} {' '.join(ask.answers)}" for ask in asks)
        if reading.prompted:
            assert all(text in everything for text in trial.shown.options)
        assert all(len(set(ask.answers)) == len(ask.answers) > 1 for ask in asks)


@pytest.mark.parametrize(("study", "name"), list(combinations()))
def test_weights_do_not_depend_on_labels_or_on_their_order(plans, study: str, name: str):
    plan = plans[study, name]
    [reading] = plan.readings
    by_trial: dict[tuple[int, int], list[tuple[float, ...]]] = {}
    for sitting in take_sessions(plan, reading, knowing(plan)):
        for read in sitting.read:
            key = (sitting.session.number, read.trial.trial.position)
            by_trial.setdefault(key, []).append(read.weights)
    for weights in by_trial.values():
        for other in weights[1:]:
            assert all(isclose(a, b) for a, b in zip(weights[0], other, strict=True))


@pytest.mark.parametrize("name", [n for n in READINGS.built_in if n != "completion"])
def test_a_model_that_says_nothing_gives_no_answer(name: str):
    plan = planned(readings=[name], n_sessions=1)

    def silent(questions):
        return [Reply((None,) * len(each.answers), read_by=("refused",)) for each in questions]

    reads = [read for one in take_sessions(plan, plan.readings[0], silent) for read in one.read]
    assert {(read.given, read.outcome) for read in reads} == {(None, "refused")}


@pytest.mark.parametrize("name", ["sentence", "difference", "after_instructions"])
def test_probabilities_of_whole_texts_cannot_rate(name: str):
    with pytest.raises(ParallaxError, match="a point of a scale for one text, which it cannot"):
        planned(STUDIES["ratings"], [name])


@pytest.mark.parametrize("name", ["acceptability", "rating"])
def test_a_context_with_answers_needs_a_reading_that_gives_them(name: str):
    with pytest.raises(ParallaxError, match="it gives no answer to one of several texts"):
        planned(readings=[name], contexts=[Context.PRACTICE])


def test_an_unknown_reading_is_named_with_the_nearest():
    plan = planned()
    with pytest.raises(ParallaxError, match='Did you mean "forced_choice"'):
        make_plan(plan.source, ["forced_choise"], plan.factors, 1, str)


def test_yes_or_no_is_asked_of_one_sentence_and_the_session_so_far_shows_it():
    study = load_study("minimal").model_copy(update={"response": "yes_no"})
    contexts = [Context.ZERO_SHOT, Context.HISTORY]
    plan = planned(study, ["acceptability"], contexts, n_sessions=1)
    for sitting in take_sessions(plan, plan.readings[0], knowing(plan)):
        for read in sitting.read:
            assert len(read.asks) == 1
            assert read.given == plan.screens.response.correct_answer(read.trial.arrangement)
