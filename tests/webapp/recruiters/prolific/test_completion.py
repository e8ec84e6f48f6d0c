"""From the platform's list to a completed submission: nothing is told before it is stored."""

from io import BytesIO

import pytest
from sqlalchemy import select

from experiment.participation import Ending
from experiment.studies.load import load_study
from tests.webapp.recruiters.prolific.conftest import LINK, SCREENING
from webapp.database.engine import reading
from webapp.database.models import ArrivalAddress, Participant
from webapp.errors import RunError
from webapp.recruiters.prolific.codes import find_code, refuse_uneven_share

pytestmark = pytest.mark.one_database


def test_our_server_completes_a_submission_and_no_page_ever_shows_a_code(lab, stand_in):
    study = lab.publish()
    submission, closing = lab.work(study)
    assert stand_in.submission(submission)["status"] == "ACTIVE"
    assert lab.report() == ["done"]
    stored = stand_in.submission(submission)
    assert stored["status"] == "AWAITING REVIEW"
    assert stored["entered_code"] == find_code(lab.platform.study(study), Ending.COMPLETED)
    codes = [code.code for code in lab.platform.study(study).completion_codes]
    assert len(set(codes)) == len(codes) == 3
    assert not any(code in closing for code in codes)


def test_the_platform_is_told_of_work_and_money_and_never_of_an_answer(
    lab, prolific_door, shell, monkeypatch
):
    heard, (door, _) = [], prolific_door
    answering = door.app

    def listening(environ, start_response):
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = BytesIO(body)
        heard.append(f"{environ['PATH_INFO']}?{environ['QUERY_STRING']} {body.decode()}")
        return answering(environ, start_response)

    monkeypatch.setattr(door, "app", listening)
    submission, way = lab.arrive(lab.stand_in.person(), lab.publish())
    visitor = lab.visit(lab.agree(way))
    trials = visitor.session()["trials"]
    for trial in trials:
        assert visitor.answer(trial["position"], "second", rt_ms=7391.25).status_code == 200
    visitor.questionnaire(native_language="Klingon of Kronos")
    assert lab.report() == ["done"]
    lab.poll()
    assert shell("approve", lab.run.ref, "--yes").exit_code == 0
    said = "\n".join(heard)
    assert submission in said and "AWAITING" not in said
    given = ["Klingon", "7391", '"second"', lab.ref_of(submission)]
    given += [text for trial in trials for text in trial.values() if isinstance(text, str)]
    assert len(given) > 6 and not [each for each in given if len(each) > 3 and each in said]


def test_whom_the_platform_confirms_is_not_counted_by_where_they_come_from(lab, client, sessions):
    _, way = lab.arrive(lab.stand_in.person(), lab.publish())
    sent = {"data": {"decision": "accept"}, "headers": {"X-Forwarded-For": "203.0.113.5"}}
    assert client.post(way, base_url=LINK, **sent).status_code == 303
    with reading(sessions) as session:
        assert session.scalars(select(Participant)).one()
        assert session.scalars(select(ArrivalAddress)).all() == []


@pytest.mark.parametrize("kind", ["server_error_after", "cut_off"])
def test_a_report_that_fails_is_made_again_and_does_nothing_twice(lab, stand_in, clock, kind):
    submission, _ = lab.work(lab.publish())
    stand_in.faults({"kind": kind, "operation": "transition-submission", "count": 1})
    assert lab.report() == ["waiting"]
    clock.go_on(minutes=5)
    assert lab.report() == ["done"]
    assert stand_in.submission(submission)["status"] == "AWAITING REVIEW"


def test_whoever_ran_out_of_time_is_refused_and_reconciling_says_so(lab, stand_in, clock, problems):
    study = lab.publish()
    submission, way = lab.arrive(stand_in.person(), study)
    home = lab.agree(way)
    lab.finish(home)
    clock.go_on(hours=2)
    assert lab.report() == ["refused"]
    lab.poll()
    assert stand_in.submission(submission)["status"] == "TIMED-OUT"
    assert ("finished_not_submitted", False) in problems()


def test_whoever_declines_completes_nothing_and_is_asked_to_return(lab, stand_in):
    submission, way = lab.arrive(stand_in.person(), lab.publish())
    page = lab.app.test_client().post(way, data={"decision": "decline"})
    page = page if page.status_code == 200 else lab.app.test_client().get(page.location)
    assert "Please return your submission" in page.text
    assert lab.report() == []
    assert stand_in.submission(submission)["status"] == "ACTIVE"


@pytest.mark.parametrize("more", [SCREENING])
def test_whoever_is_screened_out_is_paid_at_once_and_the_study_pauses_when_slots_are_used(
    lab, stand_in, shell
):
    study = lab.publish()
    submission, way = lab.arrive(stand_in.person(), study)
    home = lab.agree(way)
    answered = lab.app.test_client().post(f"{home}screening", data={"reads_english": "No"})
    assert answered.status_code == 303
    assert lab.report() == ["done"]
    assert stand_in.submission(submission)["status"] == "SCREENED OUT"
    assert stand_in.payments() == [("screen_out", submission, 15)]
    assert stand_in.status(study) == "PAUSED"
    assert "0 more" in shell("recruitment", "screen-outs", lab.run.ref).output
    assert "1 more" in shell("recruitment", "screen-outs", lab.run.ref, "--places", "2").output
    assert stand_in.status(study) == "ACTIVE"


def test_a_study_whose_codes_somebody_changed_is_completed_by_hand(lab, stand_in, sessions):
    study = lab.publish()
    lab.work(study)
    with stand_in.app.extensions["prolific"].moment() as moment:
        from marketplace.prolific.api.studies import find_study

        found = find_study(moment, study)
        codes = [{**code, "actor": "participant"} for code in found.fields["completion_codes"]]
        found.fields = {**found.fields, "completion_codes": codes}
    assert lab.report() == ["refused"]


def test_one_person_has_one_place_whatever_is_reloaded(lab, stand_in, sessions):
    study = lab.publish()
    person = stand_in.person()
    _, way = lab.arrive(person, study)
    homes = {lab.agree(way) for _ in range(2)}
    parts = person.open(person.facts("/history")["submissions"][0]["submission_id"])
    homes.add(lab.agree(parts.removeprefix("http://127.0.0.1:8000")))
    assert len(homes) == 1


@pytest.mark.parametrize("wish", ["keep", "erase"])
@pytest.mark.parametrize("where", ["answered", "finished"])
def test_whoever_did_all_the_work_is_paid_also_after_they_had_it_erased(
    lab, stand_in, visit, shell, problems, where, wish
):
    submission, way = lab.arrive(stand_in.person(), lab.publish())
    visitor = visit(lab.agree(way))
    visitor.answer_all()
    if where == "finished":
        visitor.questionnaire(native_language="English")
    visitor.client.post(f"{visitor.home}withdraw", data={"wish": wish})
    assert lab.report() == ["done"]
    assert shell("approve", lab.run.ref, "--yes").exit_code == 0
    assert stand_in.payments() == [("reward", submission, 20)]
    assert problems() == []


def test_whoever_stops_in_the_middle_is_paid_as_the_consent_text_says(
    lab, stand_in, visit, shell, problems
):
    submission, way = lab.arrive(stand_in.person(), lab.publish())
    visitor = visit(lab.agree(way))
    visitor.answer(1)
    visitor.client.post(f"{visitor.home}withdraw", data={"wish": "erase"})
    assert lab.report() == ["done"]
    shell("approve", lab.run.ref, "--yes")
    assert stand_in.payments() == []
    assert problems() == [("submitted_unfinished", False)]
    only = ("--only", lab.ref_of(submission), "--yes")
    assert shell("approve", lab.run.ref, *only).exit_code == 0
    assert stand_in.payments() == [("reward", submission, 20)]
    assert problems() == []


def test_whoever_stops_before_the_first_answer_is_asked_to_return(lab, stand_in, visit):
    submission, way = lab.arrive(stand_in.person(), lab.publish())
    visitor = visit(lab.agree(way))
    visitor.client.post(f"{visitor.home}withdraw", data={"wish": "erase"})
    assert "Please return your submission" in visitor.page().text
    assert lab.report() == []
    assert stand_in.submission(submission)["status"] == "ACTIVE"


@pytest.fixture
def part_for_who_withdraws(study_folder):
    path = study_folder / "study.toml"
    toml = path.read_text(encoding="utf-8")
    path.write_text(
        toml.replace("[recruitment]\n", "[recruitment]\nwithdrawn_percent = 25\n"),
        encoding="utf-8",
    )


def test_who_withdraws_is_paid_the_studys_share_at_once_and_the_statement_has_it(
    part_for_who_withdraws, lab, stand_in, shell, problems, clock, study_folder
):
    submission, way = lab.arrive(stand_in.person(), lab.publish())
    visitor = lab.visit(lab.agree(way))
    visitor.answer(1)
    clock.go_on(minutes=load_study(str(study_folder)).recruitment.median_minutes / 4)
    visitor.client.post(f"{visitor.home}withdraw", data={"wish": "erase"})
    assert lab.report() == ["done"]
    assert stand_in.submission(submission)["status"] == "PARTIALLY APPROVED"
    assert stand_in.payments() == [("partial", submission, 5)]
    lab.poll()
    assert problems("--fix") == []
    assert lab.ledger() == [("reward", 5, "done")]
    stated = shell("statement", lab.run.ref)
    assert "$0.05" in stated.output, stated.output
    assert problems() == []


def test_of_who_withdraws_after_one_answer_a_person_decides(part_for_who_withdraws, lab, stand_in):
    submission, way = lab.arrive(stand_in.person(), lab.publish())
    visitor = lab.visit(lab.agree(way))
    visitor.answer(1)
    visitor.client.post(f"{visitor.home}withdraw", data={"wish": "erase"})
    assert lab.report() == ["done"]
    assert stand_in.submission(submission)["status"] == "AWAITING REVIEW"
    assert stand_in.payments() == []


def test_a_share_that_is_no_whole_cent_is_not_launched(study_folder):
    path = study_folder / "study.toml"
    toml = path.read_text(encoding="utf-8")
    path.write_text(
        toml.replace("[recruitment]\n", "[recruitment]\nwithdrawn_percent = 33\n"),
        encoding="utf-8",
    )
    with pytest.raises(RunError, match="cannot be paid exactly"):
        refuse_uneven_share(load_study(str(study_folder)))
