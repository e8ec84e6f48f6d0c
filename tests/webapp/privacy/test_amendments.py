"""People correct what is stored of them, or have it kept and not used; no restore undoes it."""

import json

import pytest
from click.testing import CliRunner
from sqlalchemy import select

import parallax
from experiment.payment.payment import PaymentError
from tests.webapp.participant.conftest import rows  # noqa: F401
from tests.webapp.researcher.conftest import (  # noqa: F401
    browser,
    password_hash,
    researcher,
)
from webapp import create_app
from webapp.database.engine import reading
from webapp.database.models import (
    Answer,
    AuditEntry,
    Base,
    Event,
    Participant,
    SessionSummary,
    StudyFile,
    Verdict,
)
from webapp.erasures.file import get_record_path, read_record
from webapp.errors import WebappError
from webapp.jobs.housekeeping import erase_due_identities
from webapp.runs.exclude import store_verdicts
from webapp.runs.export import export_run
from webapp.runs.integrity import make_certificates
from webapp.runs.runs import close_run
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database
PROMISE = b"\n[privacy]\nkeep_identifying_days = 3\n"
PROMISE += b'identifying_questions = ["native_language"]\n'
BEFORE, AFTER = "Klingon of Kronos", "Sindarin of Doriath"


@pytest.fixture
def people(start, run, sessions):
    """Three people who finished, by their codes."""
    for _ in range(3):
        visitor = start(run)
        visitor.answer_all()
        visitor.questionnaire(native_language=BEFORE)
    with reading(sessions) as session:
        return session.scalars(select(Participant).order_by(Participant.id)).all()


@pytest.fixture
def wish(client, run):
    """Return a function that sends the form of somebody's own page."""

    def send(code: str, wish: str, **fields: str):
        form = {"_code": code, "_wish": wish, **fields}
        return client.post(f"/run/{run.ref}/data", data=form)

    return send


@pytest.fixture
def shell(instance):
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})

    def run(*arguments: str) -> str:
        return runner.invoke(parallax.cli, arguments, catch_exceptions=False).output

    return run


def answers(sessions, person) -> dict[str, str]:
    with reading(sessions) as session:
        given = select(Answer.field, Answer.value).where(Answer.participant_id == person.id)
        return dict(session.execute(given).all())


def kinds(sessions, person) -> list[str]:
    with reading(sessions) as session:
        of = select(Event.kind).where(Event.participant_id == person.id).order_by(Event.id)
        return list(session.scalars(of))


def test_somebody_sees_their_answers_by_their_code_and_corrects_one(
    people, wish, client, run, sessions, instance
):
    page = client.post(f"/run/{run.ref}/data", data={"code": people[0].code, "wish": "look"})
    assert BEFORE in page.text and "Save the corrections" in page.text
    assert people[1].code not in page.text
    done = wish(people[0].code, "correct", native_language=f" {AFTER}\r\n")
    assert done.status_code == 200 and "Your corrections are stored" in done.text
    assert answers(sessions, people[0])["native_language"] == AFTER
    assert answers(sessions, people[1])["native_language"] == BEFORE
    assert kinds(sessions, people[0])[-1] == "corrected"
    assert AFTER.encode() not in get_record_path(instance).read_bytes(), "the record is sealed"


def test_a_correction_that_cannot_be_stored_changes_nothing(
    people,
    wish,
    sessions,
    rows,  # noqa: F811
    instance,
):
    before = rows()
    refused = wish(people[0].code, "correct", native_language="")
    assert refused.status_code == 422 and "Please answer this question" in refused.text
    assert rows() == before and not read_record(get_record_path(instance))
    assert wish("nobody", "correct", native_language="x").status_code == 404
    wish(people[0].code, "correct", native_language=BEFORE)
    assert rows() == before, "the same again is no correction"


def test_what_was_there_before_a_correction_stands_in_no_file(people, wish, sessions, instance):
    for each in people:
        wish(each.code, "correct", native_language=AFTER)
    sessions.kw["bind"].dispose()
    files = [path for path in instance.rglob("*") if path.is_file()]
    if any(path.suffix == ".sqlite3" for path in files):
        assert not [path for path in files if BEFORE.encode() in path.read_bytes()]


def test_whose_data_are_restricted_is_in_no_export_rule_score_or_page(
    people,
    wish,
    run,
    sessions,
    tmp_path,
    researcher,  # noqa: F811
    clock,
    shell,
):
    shell("summarise", run.ref)
    assert "we keep your data but do not use them" in wish(people[0].code, "restrict").text
    with sessions.begin() as session:
        assert store_verdicts(session, run, clock()).decided == 2
        assert (
            session.scalar(select(Verdict.id).where(Verdict.participant_id == people[0].id)) is None
        )
    with reading(sessions) as session:
        provenance = export_run(session, run, tmp_path / "run")
        seen = {person.id for person, _ in make_certificates(session, run, _study(session, run))}
        summaries = set(session.scalars(select(SessionSummary.participant_id)))
    assert (provenance["n_participants"], provenance["n_restricted"]) == (2, 1)
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert not [path.name for path in files if people[0].ref.encode() in path.read_bytes()]
    assert people[0].id not in seen | summaries
    here = researcher(Role.OWNER)
    page = here.get(f"/runs/{run.ref}/participants/{people[0].ref}").text
    assert "asked that their data be stored and not used" in page
    assert BEFORE not in page and "Trial by trial" not in page
    assert "not used" in here.get(f"/runs/{run.ref}/participants").text


def test_who_allows_it_again_is_in_all_of_them(people, wish, run, sessions, tmp_path):
    wish(people[0].code, "restrict")
    wish(people[0].code, "restrict")
    wish(people[0].code, "release")
    assert kinds(sessions, people[0])[-2:] == ["restricted", "released"]
    with reading(sessions) as session:
        assert export_run(session, run, tmp_path / "run")["n_participants"] == 3


def _study(session, run):
    from webapp.runs.runs import load_launched_study

    return load_launched_study(session, run)


def test_a_restored_backup_has_the_newest_correction_and_the_restriction(
    people, wish, sessions, shell, tmp_path, instance
):
    wish(people[1].code, "restrict")
    shell("db", "backup", str(tmp_path / "old"))
    wish(people[0].code, "correct", native_language="Quenya")
    wish(people[0].code, "correct", native_language=AFTER)
    wish(people[0].code, "restrict")
    wish(people[1].code, "release")
    sessions.kw["bind"].dispose()
    said = shell("db", "restore", str(tmp_path / "old"), "--replace")
    assert "taken out again" not in said, "nobody had anything erased"
    app = create_app(instance)
    restored = app.extensions["parallax"].sessions
    assert answers(restored, people[0])["native_language"] == AFTER
    with reading(restored) as session:
        use = dict(session.execute(select(Participant.ref, Participant.restricted_at)).all())
    assert use[people[0].ref] is not None and use[people[1].ref] is None
    app.extensions["parallax"].engine.dispose()


def test_a_clock_that_was_set_back_does_not_bring_back_an_older_correction(
    people, wish, clock, sessions, shell, tmp_path, instance
):
    shell("db", "backup", str(tmp_path / "old"))
    wish(people[0].code, "correct", native_language="Quenya")
    clock.go_on(hours=-5)
    wish(people[0].code, "correct", native_language=AFTER)
    sessions.kw["bind"].dispose()
    shell("db", "restore", str(tmp_path / "old"), "--replace")
    app = create_app(instance)
    assert answers(app.extensions["parallax"].sessions, people[0])["native_language"] == AFTER
    app.extensions["parallax"].engine.dispose()


@pytest.mark.parametrize("how", ["erase", "forget"])
def test_what_somebody_corrected_is_erased_from_the_record_with_them(
    people, wish, client, run, shell, sessions, instance, how
):
    wish(people[0].code, "correct", native_language=AFTER)
    [entry] = read_record(get_record_path(instance))
    assert entry.content
    if how == "erase":
        client.post(f"/run/{run.ref}/data", data={"code": people[0].code, "wish": "erase"})
    else:
        shell("forget", people[0].ref, "--yes", "--although-unpaid")
    entries = read_record(get_record_path(instance))
    assert not [each for each in entries if each.content]
    assert entry.content.encode() not in get_record_path(instance).read_bytes()
    sessions.kw["bind"].dispose()
    shell("db", "record")
    assert len(read_record(get_record_path(instance))) == len(entries)


def test_a_copy_of_the_record_does_not_bring_back_what_an_erased_person_said(
    people, wish, client, run, shell, sessions, instance, tmp_path
):
    wish(people[0].code, "correct", native_language=AFTER)
    copy = tmp_path / "copy"
    copy.write_bytes(get_record_path(instance).read_bytes())
    client.post(f"/run/{run.ref}/data", data={"code": people[0].code, "wish": "erase"})
    sessions.kw["bind"].dispose()
    get_record_path(instance).write_text(
        "".join(f"{e}\n" for e in read_record(get_record_path(instance)) if e.deed == "erased")
    )
    shell("db", "record", "--add", str(copy))
    assert not [each for each in read_record(get_record_path(instance)) if each.content]


def test_a_correction_sealed_with_a_lost_key_is_told_and_its_key_is_not_dropped(
    people, wish, shell, sessions, instance
):
    wish(people[0].code, "correct", native_language=AFTER)
    sessions.kw["bind"].dispose()
    shell("keys", "rotate", "sealing")
    [entry] = read_record(get_record_path(instance))
    sealed_with = entry.content.partition(".")[0]
    with pytest.raises(WebappError, match=f"record of erasures needs key {sealed_with}"):
        shell("keys", "drop", sealed_with)
    text = get_record_path(instance).read_text()
    get_record_path(instance).write_text(text.replace(f" {entry.content}", " 77.abc"))
    with pytest.raises(WebappError, match="record of erasures needs key 77"):
        shell("db", "record")


def test_a_researcher_does_it_for_somebody_who_wrote_and_the_log_tells_how_they_asked(
    people,
    run,
    sessions,
    researcher,  # noqa: F811
    shell,
):
    here, ref = researcher(Role.RESEARCHER), people[0].ref
    at = f"/runs/{run.ref}/participants/{ref}"
    why = "by letter of 3 May"
    assert here.post(f"{at}/restrict", reason="short").status_code == 400
    wrong = {"field": "shoe_size", "value": "44", "reason": why}
    assert "was asked no question" in here.post(f"{at}/correct", **wrong).text
    right = {"field": "native_language", "value": AFTER, "reason": why}
    assert here.post(f"{at}/correct", **right).status_code == 303
    assert answers(sessions, people[0])["native_language"] == AFTER
    assert here.post(f"{at}/restrict", reason=why).status_code == 303
    assert here.post(f"{at}/release", reason="they wrote again").status_code == 303
    said = shell("restrict", people[1].code, "--reason", why)
    assert "are stored and not used" in said
    assert "is corrected" in shell(
        "correct", people[2].ref, "native_language", AFTER, "--reason", why
    )
    with reading(sessions) as session:
        acts = [(e.act, dict(e.after)) for e in session.scalars(select(AuditEntry))]
    assert [act for act, _ in acts if act != "user added"] == [
        "answer corrected",
        "data restricted",
        "data used again",
        "data restricted",
        "answer corrected",
    ]
    assert AFTER not in json.dumps(acts), "the log says what was done, not what somebody is"


def test_a_verdict_that_is_older_than_a_correction_says_so(
    people,
    wish,
    run,
    sessions,
    researcher,  # noqa: F811
    clock,
):
    with sessions.begin() as session:
        store_verdicts(session, run, clock())
    clock.go_on(minutes=1)
    wish(people[0].code, "correct", native_language=AFTER)
    here = researcher(Role.VIEWER)
    told = "corrected an answer after the exclusion rules had decided"
    assert told in here.get(f"/runs/{run.ref}/participants/{people[0].ref}").text
    assert told not in here.get(f"/runs/{run.ref}/participants/{people[1].ref}").text


def test_own_data_hold_every_table_that_is_about_a_person(people, run, client):
    sent = client.post(f"/run/{run.ref}/data", data={"code": people[0].code})
    data = json.loads(sent.data)
    # Where each table stands in the file; what is missing here is missing there.
    places = {
        "answer": "answers",
        "arrival_address": "network_address",
        "assignment": "work_at_the_platform",
        "device": "devices",
        "event": "events",
        "link_visit": "what_your_link_said",
        "note": "notes_of_the_researchers",
        "outgoing_report": "told_to_the_platform",
        "participant": "you",
        "payment": "payments",
        "place": "you",
        "session_summary": "summary_for_the_researchers",
        "tag": "notes_of_the_researchers",
        "trial": "trials",
        "verdict": "exclusion",
    }
    about = {t.name for t in Base.metadata.sorted_tables if "participant_id" in t.c}
    assert about | {"participant"} == places.keys()
    assert set(places.values()) <= data.keys()
    assert data["use"] == "as consented"


def test_nobody_is_rejected_or_given_a_bonus_by_answers_that_may_not_be_used(run, people):
    from types import SimpleNamespace

    from webapp.payments.bonuses import RequestedBonuses
    from webapp.payments.rewards import prepare_rejection

    person = SimpleNamespace(ref="abc", code="xyz", restricted_at=1)
    account = SimpleNamespace(participant=person, assignment=None, is_restricted=True)
    payments = SimpleNamespace(
        load_accounts=lambda: [account],
        run=run,
        platform=SimpleNamespace(
            rejection_terms=SimpleNamespace(least_characters=0, categories=())
        ),
    )
    with pytest.raises(PaymentError, match="asked that their data not be used"):
        prepare_rejection(payments, "abc", "did not read", "")
    assert "1 asked that their data not be used" in RequestedBonuses([], 0, (), 1).notes("run")[0]


def test_data_that_are_restricted_are_not_erased_when_the_study_s_day_comes(
    people, wish, run, sessions, app, clock
):
    with sessions.begin() as session:
        toml = session.scalars(select(StudyFile).where(StudyFile.name == "study.toml")).one()
        toml.content += PROMISE
        close_run(session, session.merge(run), clock())
    app.extensions["parallax"]._studies.clear()
    wish(people[0].code, "restrict")
    clock.go_on(days=4)
    erase_due_identities(app.extensions["parallax"])
    assert answers(sessions, people[0]) == {"native_language": BEFORE}
    assert answers(sessions, people[1]) == {}


@pytest.mark.parametrize(
    "line",
    [
        "corrected 2.9f86 2026-03-01T09:00:00+00:00",
        "corrected 2.9f86 2026-03-01T09:00:00+00:00 mark",
        "corrected 2.9f86 2026-03-01T09:00:00+00:00 mark nokey.abc",
        "restricted 2.9f86 yesterday mark -",
        "erased 2.9f86 2026-03-01T09:00:00+00:00 mark -",
        "improved 2.9f86 2026-03-01T09:00:00+00:00",
    ],
)
def test_a_line_that_is_no_entry_is_named_and_nothing_is_carried_out(tmp_path, line):
    file = tmp_path / "erasures"
    file.write_text(f"{line}\n")
    with pytest.raises(WebappError, match="a line is not an entry of a record of erasures"):
        read_record(file)


def test_a_command_for_nobody_or_for_no_question_says_what_it_expected(people, shell, sessions):
    why = ("--reason", "by letter of 3 May")
    with pytest.raises(WebappError, match=r"no participant has that reference or code.*Expected"):
        shell("restrict", "nobody", *why)
    with pytest.raises(
        WebappError, match=r'was asked no question "shoe_size".*one of: native_language'
    ):
        shell("correct", people[0].ref, "shoe_size", "44", *why)
    with pytest.raises(
        WebappError, match="the new answer to native_language cannot be stored: Please answer"
    ):
        shell("correct", people[0].ref, "native_language", " ", *why)
    assert answers(sessions, people[0])["native_language"] == BEFORE


def test_somebody_who_had_everything_erased_has_nothing_left_to_correct(
    people, wish, client, run, sessions
):
    client.post(f"/run/{run.ref}/data", data={"code": people[0].code, "wish": "erase"})
    page = client.post(f"/run/{run.ref}/data", data={"code": people[0].code, "wish": "look"}).text
    assert "Save the corrections" not in page and BEFORE not in page
    wish(people[0].code, "correct", native_language=AFTER)
    assert answers(sessions, people[0]) == {}
