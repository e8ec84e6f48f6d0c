import json
import re
import shutil

import pytest
from sqlalchemy import select

from experiment.studies.load import STUDIES_FOLDER, load_study
from webapp.database.engine import reading
from webapp.database.models import Answer, Participant, Response, Run, RunItem, Trial
from webapp.sessions import run_lists

pytestmark = pytest.mark.one_database

FORM = {"native_language": "English"}


def page_of(response) -> str:
    return response.text.split('data-page="')[1].split('"')[0]


def test_the_address_shows_where_the_participant_is(visitor):
    pages = [page_of(visitor.page())]
    visitor.answer_all()
    pages.append(page_of(visitor.page()))
    assert visitor.questionnaire(**FORM).status_code == 303
    pages.append(page_of(visitor.page()))
    assert pages == ["working", "questionnaire", "closing"]


def test_the_working_page_holds_instructions_and_every_trial(visitor, study):
    session = visitor.session()
    assert set(session) == {
        "trials", "answered", "practice", "response", "script", "keys", "lockout_ms", "gap_ms",
        "deadline_ms", "pauses", "pages",
        "device_known", "preview",
    }  # fmt: skip
    assert [set(trial) for trial in session["trials"]] == [{"position", "first", "second"}] * 8
    assert [trial["position"] for trial in session["trials"]] == list(range(1, 9))
    assert "What to do" in visitor.page().text


def test_the_sentences_are_those_of_the_list_each_on_its_side(visitor, sessions):
    with reading(sessions) as session:
        rows = session.execute(
            select(Trial.good_side, RunItem.item)
            .join(RunItem, RunItem.id == Trial.run_item_id)
            .order_by(Trial.position)
        ).all()
    for shown, (good_side, item) in zip(visitor.session()["trials"], rows, strict=True):
        other = "second" if good_side == "first" else "first"
        assert shown[good_side] == f"{item['good'].capitalize()}."
        assert shown[other] == f"{item['bad'].capitalize()}."


def test_participants_of_one_run_each_get_their_own_trials_and_progress(run, start, sessions):
    people = [start(run) for _ in range(4)]
    for answered, person in enumerate(people):
        for position in range(1, answered + 1):
            person.answer(position)
    with reading(sessions) as session:
        rows = session.execute(
            select(Trial.participant_id, Trial.good_side, RunItem.item)
            .join(RunItem, RunItem.id == Trial.run_item_id)
            .order_by(Trial.participant_id, Trial.position)
        ).all()
    expected: dict[int, list[str]] = {}
    for participant, good_side, item in rows:
        pair = [item["good"], item["bad"]]
        shown = pair if good_side == "first" else pair[::-1]
        expected.setdefault(participant, []).append(" ".join(f"{t.capitalize()}." for t in shown))
    pages = [person.session() for person in (*people, *reversed(people))]
    shown = [[f"{trial['first']} {trial['second']}" for trial in page["trials"]] for page in pages]
    own = list(expected.values())
    assert shown == [*own, *reversed(own)] and len({tuple(texts) for texts in own}) == 4
    assert [len(page["answered"]) for page in pages] == [0, 1, 2, 3, 3, 2, 1, 0]


def test_a_reload_goes_on_where_the_participant_was(visitor):
    trials = visitor.session()["trials"]
    for position in (1, 2, 3):
        visitor.answer(position)
    again = visitor.session()
    assert again["trials"] == trials
    assert again["answered"] == [1, 2, 3]
    assert "You will continue where you left off" in visitor.page().text


def test_a_session_goes_on_after_the_server_was_restarted(visitor, instance, clock):
    from webapp import create_app

    visitor.answer(1)
    app = create_app(instance, now=clock)
    visitor.client = app.test_client()
    assert visitor.session()["answered"] == [1]
    app.extensions["parallax"].engine.dispose()


def test_the_page_is_a_function_of_the_texts_and_their_sides_alone(app, visitor, sessions):
    before = visitor.page().data
    with sessions() as session:
        for trial in session.scalars(select(Trial)):
            row = session.get_one(RunItem, trial.run_item_id)
            if trial.id % 2:
                # The other sentence becomes the good one and stays where it is.
                trial.good_side = "second" if trial.good_side == "first" else "first"
                row.item = {**row.item, "good": row.item["bad"], "bad": row.item["good"]}
            row.item = row.item | {
                "item_id": f"other-{row.id}", "construction": "other", "condition": "other",
                "kind": "filler", "template": "other", "features": "", "frame": "",
            }  # fmt: skip
            row.item_id, row.kind = f"other-{row.id}", "filler"
        session.commit()
    # A process reads a list once, and makes a page once: this is the page of one that starts now.
    run_lists._LISTS.clear()
    assert visitor.page().data == before


def test_the_page_names_nothing_but_texts(visitor, sessions):
    page = re.sub("<script data-base.*?</script>", "", visitor.page().text, flags=re.DOTALL)
    with reading(sessions) as session:
        rows = session.scalars(select(RunItem)).all()
    hidden = {value for row in rows for value in (row.item_id, row.kind, row.item["construction"])}
    assert not [word for word in hidden if word in page]
    assert "good" not in json.dumps(visitor.session())


@pytest.mark.both_databases
def test_the_questionnaire_is_stored(visitor, sessions):
    visitor.answer_all()
    visitor.questionnaire(**FORM, unknown="x")
    with reading(sessions) as session:
        [answer] = session.scalars(select(Answer))
        participant = session.scalars(select(Participant)).one()
    assert (answer.field, answer.value) == ("native_language", "English")
    assert participant.state == "finished" and participant.finished_at is not None


def test_a_wrong_questionnaire_is_shown_again_with_what_was_written(visitor):
    visitor.answer_all()
    long = "<b>" + "x" * 5000
    response = visitor.questionnaire(native_language=long)
    assert response.status_code == 422
    assert "at most 5000 characters" in response.text
    assert "&lt;b&gt;xxx" in response.text
    assert page_of(visitor.page()) == "questionnaire"


@pytest.mark.both_databases
def test_a_questionnaire_sent_twice_is_stored_once(visitor, sessions):
    visitor.answer_all()
    assert visitor.questionnaire(**FORM).status_code == 303
    assert visitor.questionnaire(native_language="Italian").status_code == 303
    with reading(sessions) as session:
        assert [answer.value for answer in session.scalars(select(Answer))] == ["English"]


def test_a_questionnaire_before_its_time_leads_back_to_the_trials(visitor, sessions):
    visitor.answer(1)
    response = visitor.questionnaire(**FORM)
    assert (response.status_code, response.location) == (303, visitor.home)
    assert page_of(visitor.page()) == "working"
    with reading(sessions) as session:
        assert not session.scalars(select(Answer)).all()


def test_a_session_that_never_began_is_a_clear_page(visitor, sessions):
    with sessions() as session:
        session.scalars(select(Participant)).one().state = "arrived"
        session.commit()
    assert visitor.page().status_code == 409
    assert "This session is closed" in visitor.page().text


def test_html_in_a_studys_text_is_shown_not_obeyed():
    from webapp.participant.trial_page import render_markdown

    assert render_markdown("a <script>x</script> *b*") == (
        "<p>a &lt;script&gt;x&lt;/script&gt; <em>b</em></p>\n"
    )


def test_every_page_of_a_simulated_run_says_so(client, start, simulated_run, sessions):
    marked = "Programs answer here; nothing here comes from people."
    consent = f"/run/{simulated_run.ref}"
    assert marked in client.get(consent).text
    assert marked in client.post(consent, data={}).text
    declined = client.post(consent, data={"decision": "decline"})
    assert marked in client.get(declined.location).text
    visitor = start(simulated_run)
    assert marked in visitor.page().text
    visitor.answer_all()
    assert marked in visitor.page().text
    assert marked in visitor.questionnaire().text
    visitor.questionnaire(**FORM)
    assert marked in visitor.page().text
    for _ in range(7):
        start(simulated_run)
    assert marked in client.get(consent).text


def test_no_page_of_a_run_with_people_says_so(client, run, visitor):
    for response in (client.get(f"/run/{run.ref}"), visitor.page()):
        assert "Simulated" not in response.text


def test_two_runs_are_filled_side_by_side(start, run, simulated_run, sessions):
    for each in (run, simulated_run):
        start(each).answer_all()
    with reading(sessions) as session:
        assert len(session.scalars(select(Response)).all()) == 16
        assert len(session.scalars(select(Run)).all()) == 2


def test_what_a_first_visit_loads_is_there_and_light(visitor):
    page = visitor.page()
    wanted = re.findall(r'(?:src|href)="(/[^"]+)"', page.text)
    compressed = {"Accept-Encoding": "gzip"}
    loaded = [visitor.client.get(url, headers=compressed) for url in wanted if "/assets/" in url]
    assert all(response.status_code == 200 for response in loaded)
    assert sum(len(response.data) for response in (page, *loaded)) < 50_000


def test_of_practice_alone_the_page_knows_which_option_is_right(launched, start, tmp_path):
    folder = shutil.copytree(STUDIES_FOLDER / "minimal", tmp_path / "minimal")
    with (folder / "study.toml").open("a", encoding="utf-8") as toml:
        toml.write('\n[trial]\nkeys = ["f", "j"]\nbreak_every = 4\npractice = "practice.toml"\n')
    (folder / "practice.toml").write_text(
        '[[practice]]\ngood = "dogs bark"\nbad = "dogs barks"\nfeedback = "Two."\n', "utf-8"
    )
    session = start(launched(load_study(str(folder)))).session()
    (practice,) = session["practice"]
    assert practice[practice["correct"]] == "Dogs bark."
    assert practice["feedback"] == "Two."
    assert (session["keys"], session["pauses"]) == (["f", "j"], [5])
    assert "correct" not in json.dumps(session["trials"])


@pytest.fixture
def without_questions(launched, start, tmp_path):
    folder = shutil.copytree(STUDIES_FOLDER / "minimal", tmp_path / "minimal")
    toml = (folder / "study.toml").read_text(encoding="utf-8")
    kept = re.sub(r"\[\[questionnaire\]\].*?(?=^\[)", "", toml, flags=re.DOTALL | re.MULTILINE)
    (folder / "study.toml").write_text(kept, encoding="utf-8")
    study = load_study(str(folder))
    assert not study.questionnaire
    return start(launched(study))


def test_a_study_without_questions_ends_with_its_last_answer(without_questions, sessions):
    without_questions.answer_all()
    with reading(sessions) as session:
        participant = session.scalars(select(Participant)).one()
    assert participant.state == "finished" and participant.finished_at is not None
    assert page_of(without_questions.page()) == "closing"
    assert without_questions.answer(8).json["remaining"] == 0
    assert page_of(without_questions.page()) == "closing"


def test_who_comes_back_to_a_study_without_questions_is_not_asked_any(without_questions, sessions):
    without_questions.answer_all()
    with sessions() as session:
        # The server went between the last answer and the end of the session.
        participant = session.scalars(select(Participant)).one()
        participant.state, participant.finished_at = "answered", None
        session.commit()
    assert page_of(without_questions.page()) == "closing"
    with reading(sessions) as session:
        assert session.scalars(select(Participant)).one().finished_at is not None


def test_the_address_of_a_form_that_is_opened_like_a_page_leads_to_the_session(visitor):
    for form in ("questionnaire", "screening", "comprehension", "assent", "leave"):
        opened = visitor.client.get(f"{visitor.home}{form}")
        assert (opened.status_code, opened.location) == (303, visitor.home)
    assert visitor.client.get(f"{visitor.home}answers").status_code == 405
