"""What is asked before the first trial, and every way in which a visit can end."""

import re

import pytest
from sqlalchemy import func, select

from experiment.participation import Ending
from experiment.studies.files import study_files
from experiment.studies.load import frozen_study
from tests.webapp.conftest import start_run
from webapp.database.engine import reading
from webapp.database.models import Answer, Participant, Place, Response, RunItem, Trial
from webapp.runs.export import export_run

PERSON = "5f0c1e2d3b4a59687786a5b4"
CODES = {ending: f"CODE-{ending.upper().replace('_', '-')}" for ending in Ending}
PANEL = "\n".join(
    ["[panel]", 'preset = "prolific"', "[panel.codes]"]
    + [f'{ending} = "{code}"' for ending, code in CODES.items()]
)
SCREENING = """
[[screening]]
name = "age"
label = "How old are you?"
type = "number"
at_least = 18
[[screening]]
name = "native"
label = "Is English your native language?"
type = "choice"
options = ["yes", "no"]
accept = ["yes"]
"""
COMPREHENSION = """
[comprehension]
tries = 2
[[comprehension.questions]]
name = "task"
label = "What do you choose?"
type = "choice"
options = ["the better sentence", "the longer sentence"]
correct = ["the better sentence"]
"""
ATTENTION = "[attention]\nmax_catch_errors = 0\n"
STEPS = ("", "questionnaire", "screening", "comprehension", "answers", "closing")
RIGHT, WRONG = {"task": "the better sentence"}, {"task": "the longer sentence"}
FIT = {"age": "18", "native": "yes"}


def page_of(response) -> str:
    return response.text.split('data-page="')[1].split('"')[0]


def codes_in(text: str) -> set[Ending]:
    return {ending for ending, code in CODES.items() if code in text}


@pytest.fixture
def link(launch_panel):
    """Return a function that gives a person's link to a run of a study with more in it."""
    return lambda more, person=PERSON: f"/run/{launch_panel(more).ref}?PROLIFIC_PID={person}"


@pytest.fixture
def come(link, client, visit):
    """Return a function that comes to a run of a study with more in it, and agrees."""

    def with_more(more: str, decision: str = "accept", person: str = PERSON):
        return visit(client.post(link(more, person), data={"decision": decision}).location)

    return with_more


@pytest.fixture
def launch_panel(study, sessions):
    runs = {}

    def with_more(more: str):
        if more not in runs:
            files = study_files(study)
            toml = files["study.toml"].decode() + "\n" + more + "\n" + PANEL + "\n"
            changed = frozen_study({**files, "study.toml": toml.encode()}, study.folder)
            runs[more] = start_run(sessions, changed, "panel")
        return runs[more]

    return with_more


@pytest.fixture
def holders(sessions):
    def count() -> int:
        with reading(sessions) as session:
            return session.scalar(select(func.count(Place.participant_id))) or 0

    return count


def answers_of(sessions) -> dict[str, str]:
    with reading(sessions) as session:
        return dict(session.execute(select(Answer.field, Answer.value)).all())


def post(visitor, step: str, **form: str):
    hidden = re.search(r'name="try" value="(\d+)"', visitor.page().text)
    data = {"try": hidden[1] if hidden else "", **form}
    return visitor.client.post(f"{visitor.home}{step}", data=data)


@pytest.mark.one_database
def test_who_fits_and_has_read_the_instructions_gets_a_place_and_not_before(
    come, holders, sessions
):
    visitor = come(SCREENING + COMPREHENSION)
    assert (page_of(visitor.page()), holders()) == ("screening", 0)
    assert visitor.answer(1).status_code == 409
    assert post(visitor, "screening", age="eighteen", native="yes").status_code == 422
    assert post(visitor, "screening", **FIT).status_code == 303
    assert (page_of(visitor.page()), holders()) == ("comprehension", 0)
    assert "What to do" in visitor.page().text
    assert post(visitor, "comprehension", **RIGHT).status_code == 303
    assert (page_of(visitor.page()), holders()) == ("working", 1)
    visitor.answer_all()
    visitor.questionnaire(native_language="English")
    assert codes_in(visitor.page().text) == {Ending.COMPLETED}
    assert answers_of(sessions) == {**FIT, **RIGHT, "native_language": "English"}


@pytest.mark.one_database
def test_who_answered_before_the_start_and_went_no_further_can_have_it_erased(
    come, holders, sessions
):
    visitor = come(SCREENING + COMPREHENSION)
    assert post(visitor, "screening", **FIT).status_code == 303
    assert answers_of(sessions) == FIT
    assert post(visitor, "withdraw", wish="erase").status_code in (200, 303)
    assert (holders(), answers_of(sessions)) == (0, {})
    with reading(sessions) as session:
        assert session.scalars(select(Participant.state)).one() == "withdrawn"


@pytest.mark.one_database
@pytest.mark.parametrize("changed", [{"age": "17"}, {"native": "no"}])
def test_whom_the_study_is_not_for_is_sent_back_and_their_answers_are_not_stored(
    come, link, holders, sessions, changed
):
    visitor = come(SCREENING)
    post(visitor, "screening", **{**FIT, **changed})
    text = visitor.page().text
    assert page_of(visitor.page()) == "left"
    assert "looking for other participants" in text
    assert codes_in(text) == {Ending.SCREENED_OUT}
    assert (holders(), answers_of(sessions)) == (0, {})
    post(visitor, "screening", **FIT)
    again = visitor.client.post(link(SCREENING), data={"decision": "accept"})
    assert page_of(again) == "finished_before"
    assert codes_in(again.text) == {Ending.SCREENED_OUT}, "coming again is no way in"


@pytest.mark.one_database
def test_who_has_not_read_the_instructions_has_as_many_tries_as_the_study_says(come, holders):
    visitor = come(COMPREHENSION)
    first = post(visitor, "comprehension", **WRONG)
    assert first.status_code == 422
    assert "read the instructions again" in first.text
    again = visitor.client.post(f"{visitor.home}comprehension", data={"try": "1", **WRONG})
    assert again.status_code == 303, "the same form, sent again, is the same try"
    assert page_of(visitor.page()) == "comprehension"
    post(visitor, "comprehension", **WRONG)
    assert codes_in(visitor.page().text) == {Ending.FAILED_CHECK}
    post(visitor, "comprehension", **RIGHT)
    assert (page_of(visitor.page()), holders()) == ("left", 0)


def test_too_many_errors_on_catch_trials_end_the_session_at_once(come, holders, sessions):
    visitor = come(ATTENTION)
    with reading(sessions) as session:
        rows = session.execute(
            select(Trial.position, Trial.good_side, RunItem.kind)
            .join(RunItem, RunItem.id == Trial.run_item_id)
            .order_by(Trial.position)
        ).all()
    others = {"first": "second", "second": "first"}
    catch = next(row for row in rows if row.kind == "catch")
    for row in rows:
        if row.position < catch.position:
            visitor.answer(row.position, others[row.good_side])
    assert page_of(visitor.page()) == "working", "errors on other trials end nothing"
    ended = visitor.answer(catch.position, others[catch.good_side])
    assert ended.json["remaining"] == 0
    assert codes_in(visitor.page().text) == {Ending.FAILED_CHECK}
    assert visitor.answer(len(rows)).status_code == 409
    assert holders() == 0
    with reading(sessions) as session:
        assert session.scalar(select(func.count(Response.id))) == catch.position


@pytest.mark.one_database
@pytest.mark.parametrize("wish", ["keep", "erase"])
def test_who_stops_before_the_first_answer_declined_and_after_it_withdrew(come, holders, wish):
    early, late = come(""), come("", person=PERSON[:-1] + "5")
    late.answer(1)
    assert holders() == 2
    for visitor, ending in ((early, Ending.DECLINED), (late, Ending.WITHDRAWN)):
        assert (
            visitor.client.post(f"{visitor.home}withdraw", data={"wish": wish}).status_code == 303
        )
        assert codes_in(visitor.page().text) == {ending}
        assert visitor.answer(2).status_code == 409
    assert holders() == 0


@pytest.mark.one_database
def test_every_page_has_one_way_out(come):
    visitor = come(SCREENING + COMPREHENSION)
    pages = [visitor.page().text]
    for step, form in (("screening", FIT), ("comprehension", RIGHT)):
        post(visitor, step, **form)
        pages.append(visitor.page().text)
    ways = [(text.count('action="leave"'), text.count('href="withdraw"')) for text in pages]
    assert ways == [(1, 0), (1, 0), (0, 1)]


@pytest.mark.one_database
def test_what_somebody_answered_before_they_withdrew_stands_in_no_export(
    come, sessions, launch_panel, tmp_path
):
    visitor = come("")
    visitor.answer(1)
    visitor.client.post(f"{visitor.home}leave")
    with reading(sessions) as session:
        ref = session.scalars(select(Participant.ref)).one()
        export_run(session, launch_panel(""), tmp_path / "export")
    written = {path.stem: path.read_text() for path in (tmp_path / "export").glob("*.csv")}
    assert {name for name, text in written.items() if ref in text} == {"participants", "endings"}


@pytest.mark.one_database
def test_who_finished_cannot_leave_any_more(come):
    visitor = come("")
    visitor.answer_all()
    visitor.questionnaire(native_language="English")
    visitor.client.post(f"{visitor.home}leave")
    assert codes_in(visitor.page().text) == {Ending.COMPLETED}


@pytest.mark.one_database
def test_no_consent_full_and_too_late_have_their_own_ways_back(
    come, launch_panel, client, clock, sessions
):
    assert codes_in(come("", "decline").page().text) == {Ending.NO_CONSENT}
    run = launch_panel("")
    everybody = [come("", person=f"{number:024x}") for number in range(1, 9)]
    full = client.get(f"/run/{run.ref}?PROLIFIC_PID={PERSON[:-1]}9")
    assert full.status_code == 409
    assert codes_in(full.text) == {Ending.FULL}
    everybody[0].answer(1)
    clock.go_on(hours=3)
    come("", person=PERSON[:-1] + "8")
    for number in range(100, 107):
        come("", person=f"{number:024x}")
    assert codes_in(everybody[0].page().text) == {Ending.TOO_LATE}
    for position in range(2, 9):
        everybody[0].answer(position)
    everybody[0].questionnaire(native_language="English")
    assert codes_in(everybody[0].page().text) == {Ending.COMPLETED}, "the whole work was done"


@pytest.mark.one_database
def test_no_code_leaves_before_the_last_answer_is_stored(come, client):
    """Every address is asked early, in every way: none of them holds a code."""
    visitor = come(SCREENING + COMPREHENSION)
    early = [visitor.page()]

    def tricks() -> None:
        for method in ("get", "post"):
            ask = getattr(client, method)
            early.extend(ask(f"{visitor.home}{step}") for step in STEPS)
        early.append(visitor.questionnaire(native_language="English"))
        early.append(client.get(f"{visitor.home}?state=finished&ending=completed"))
        early.append(client.get(f"{visitor.home}", headers={"X-HTTP-Method-Override": "POST"}))

    tricks()
    post(visitor, "screening", **FIT)
    tricks()
    post(visitor, "comprehension", **RIGHT)
    tricks()
    trials = visitor.session()["trials"]
    early.extend(visitor.answer(trial["position"]) for trial in trials[:-1])
    early.append(visitor.answer(len(trials), "sideways"))
    tricks()
    early.append(visitor.answer(len(trials)))
    early.append(visitor.page())
    early.append(visitor.questionnaire(native_language=""))
    assert all(codes_in(answer.text) == set() for answer in early)
    visitor.questionnaire(native_language="English")
    assert codes_in(visitor.page().text) == {Ending.COMPLETED}


@pytest.mark.one_database
def test_a_run_that_fills_up_meanwhile_turns_away_kindly_and_stores_nothing(
    come, client, launch_panel, sessions
):
    visitor = come(SCREENING)
    for number in range(1, 9):
        other = come(SCREENING, person=f"{number:024x}")
        post(other, "screening", **FIT)
    late = post(visitor, "screening", **FIT)
    assert late.status_code == 409
    assert codes_in(late.text) == {Ending.FULL}
    assert page_of(visitor.page()) == "screening", "a place may become free again"
