"""A study in three sessions on Prolific, and what is asked of Prolific before and beside it."""

import csv
import io
import json
import re
import shutil
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from analysis.data.load import load_run
from analysis.data.longitudinal import join_parts
from experiment.studies.load import load_study
from marketplace.prolific.people import Message
from tests.webapp.recruiters.prolific.conftest import Lab
from webapp.database.engine import reading
from webapp.database.models import Participant
from webapp.runs.export import export_run
from webapp.runs.launch import launch_run

pytestmark = pytest.mark.one_database


@pytest.fixture
def part(lab, study_folder, clock, tmp_path):
    """Return a function that launches another part, for who finished the one before."""

    def of(name: str, after: str) -> Lab:
        folder = tmp_path / "parts" / name
        shutil.copytree(study_folder, folder)
        toml = (folder / "study.toml").read_text(encoding="utf-8")
        toml = re.sub(r'name = "minimal"', f'name = "{name}"', toml, count=1)
        toml = toml.replace("[recruitment]\n", f'[recruitment]\nafter = ["{after}"]\n')
        (folder / "study.toml").write_text(toml, encoding="utf-8")
        with lab.sessions() as session:
            run = launch_run(
                session, load_study(str(folder)), 3, "prolific", now=clock(), code_version="0"
            )
            session.commit()
        return Lab(lab.stand_in, lab.app, lab.sessions, lab.platform, run, lab.visit, lab.once)

    return of


def finish(lab: Lab, person, study: str) -> str:
    submission, way = lab.arrive(person, study)
    lab.finish(lab.agree(way))
    lab.report()
    lab.poll()
    return submission


def test_three_sessions_from_the_first_invitation_to_one_table(
    lab, part, stand_in, shell, tmp_path
):
    stays, stops = stand_in.person(), stand_in.person()
    first = lab.publish()
    finish(lab, stays, first)
    _, way = lab.arrive(stops, first)
    lab.agree(way)  # and goes away
    second = part("second", "minimal")
    study = second.publish()
    told = shell("recruitment", "write", lab.run.ref, "--to", "finished", "--text",
                 "The second part is open.", "--yes")  # fmt: skip
    assert told.exit_code == 0, told.output
    assert "sent to 1 participants" in told.output
    with Session(stand_in.app.extensions["prolific"].engine) as session:
        [message] = session.scalars(select(Message)).all()
    assert (message.recipient, message.body) == (stays.ref, "The second part is open.")
    assert stand_in.person().try_to_take(study).status_code == 404
    finish(second, stays, study)
    # Prolific counts who took the first part as having taken part; our door asks who finished.
    _, way = second.arrive(stops, study)
    refused = lab.app.test_client().post(way, data={"decision": "accept"})
    assert refused.status_code == 409
    assert "finished the earlier part" in refused.text
    third = part("third", "second")
    study = third.publish()
    finish(third, stays, study)
    shown = shell("recruitment", "status", third.run.ref)
    assert shown.exit_code == 0 and "was changed" not in shown.output, shown.output
    runs = (lab.run.ref, second.run.ref, third.run.ref)
    table = shell("recruitment", "parts", *runs)
    assert table.exit_code == 0, table.output
    rows = list(csv.reader(io.StringIO(table.output)))
    assert rows[0] == ["code", *runs]
    whole = [row for row in rows[1:] if all(row)]
    assert len(whole) == 1 and len(rows) == 3
    with reading(lab.sessions) as session:
        theirs = session.scalars(
            select(Participant.ref).where(Participant.platform_id == stays.ref)
        ).all()
    assert set(whole[0][1:]) == set(theirs)
    assert stays.ref not in table.output and stops.ref not in table.output
    assert shell("recruitment", "parts", *runs).output == table.output
    numbers = [exported_sessions(one, tmp_path / one.run.ref) for one in (lab, second, third)]
    assert numbers == [None, {"2"}, {"3"}]
    (tmp_path / "parts.csv").write_text(table.output, encoding="utf-8")
    exports = [load_run(tmp_path / ref) for ref in reversed(runs)]
    assert [one.facts.session for one in exports] == [3, 2, 1]
    together = join_parts(exports, tmp_path / "parts.csv")
    assert set(together.participants["participant"]) == {row[0] for row in rows[1:]}
    assert together.facts.run.split() == [*runs]


@pytest.mark.parametrize("how", ["erased", "forgotten"])
def test_whose_first_part_was_erased_is_in_no_later_part(lab, part, stand_in, shell, how):
    """Nobody returns by a later part: neither as a participant of it, nor in the joined table."""
    stays, goes = stand_in.person(), stand_in.person()
    first = lab.publish()
    finish(lab, stays, first)
    finish(lab, goes, first)
    second = part("second", "minimal")
    study = second.publish()
    _, way = second.arrive(goes, study)
    with reading(lab.sessions) as session:
        known = select(Participant).where(Participant.platform_id == goes.ref)
        [person] = session.scalars(known)
        ref, code = person.ref, person.code
    words = ("erase", lab.run.ref, code) if how == "erased" else ("forget", ref)
    more = () if how == "erased" else ("--although-unpaid",)
    done = shell(*words, "--yes", *more)
    assert done.exit_code == 0, done.output
    refused = lab.app.test_client().post(way, data={"decision": "accept"})
    assert refused.status_code == 409 and "finished the earlier part" in refused.text
    for one in (lab, second):
        one.poll()
    finish(second, stays, study)
    table = shell("recruitment", "parts", lab.run.ref, second.run.ref)
    assert table.exit_code == 0, table.output
    rows = list(csv.reader(io.StringIO(table.output)))[1:]
    assert len(rows) == 1 and all(rows[0])
    assert ref not in table.output and goes.ref not in table.output


def exported_sessions(part: Lab, folder: Path) -> set[str] | None:
    """The numbers of sessions in an exported table of participants; None without the column."""
    with reading(part.sessions) as session:
        export_run(session, part.run, folder)
    package = json.loads((folder / "datapackage.json").read_text("utf-8"))
    [fields] = [one["schema"]["fields"] for one in package["resources"]
                if one["name"] == "participants"]  # fmt: skip
    with (folder / "participants.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    roles = {one["name"]: one.get("role") for one in fields}
    if "session" not in rows[0]:
        assert "session" not in roles
        return None
    assert roles["session"] == "session"
    return {row["session"] for row in rows}


def test_a_part_whose_part_before_was_never_published_is_not_published(lab, part):
    with pytest.raises(Exception, match='nobody can have finished "minimal"'):
        part("second", "minimal").publish()


def test_runs_are_joined_only_where_there_are_two(lab, shell):
    for runs in ((lab.run.ref,), (lab.run.ref, lab.run.ref)):
        refused = shell("recruitment", "parts", *runs)
        assert refused.exit_code != 0
        assert "two or more different runs" in str(refused.exception)


TERMS = """
peripherals = ["audio"]
naivety = 0.25
most_at_once = 1
label = "decision_making_task"
content_warning = "sensitive"
content_warning_details = "Some sentences speak of war."
"""


@pytest.fixture
def with_terms(study_folder):
    path = study_folder / "study.toml"
    toml = path.read_text(encoding="utf-8").replace("[recruitment]\n", f"[recruitment]\n{TERMS}")
    path.write_text(toml, encoding="utf-8")


class TestTerms:
    """What a study says of itself stands on Prolific, and is shown before."""

    @pytest.fixture
    def lab(self, with_terms, stand_in, app, sessions, platform, run, visit, once):
        return Lab(stand_in, app, sessions, platform, run, visit, once)

    def test_it_is_posted_as_it_was_written_and_at_most_so_many_work_at_once(
        self, lab, stand_in, shell
    ):
        dry = shell("publish", lab.run.ref, "--dry-run")
        assert dry.exit_code == 0, dry.output
        assert "sensitive: Some sentences speak of war." in dry.output
        assert "people who could take part now" in dry.output
        study = lab.publish()
        shown = stand_in.api.get(f"/api/v1/studies/{study}/").json()
        assert shown["peripheral_requirements"] == ["audio"]
        assert shown["naivety_distribution_rate"] == 0.25
        assert shown["study_labels"] == ["decision_making_task"]
        assert shown["content_warnings"] == ["sensitive"]
        assert shown["content_warning_details"] == "Some sentences speak of war."
        assert shown["submissions_config"]["max_concurrent_submissions"] == 1
        stand_in.person().begin(study)
        assert stand_in.person().try_to_take(study).status_code == 404


def test_the_audience_is_counted_and_few_people_are_not_told(lab, stand_in, shell):
    assert (
        "not available: too few for the platform to report"
        in shell("publish", lab.run.ref, "--dry-run").output
    )
    for _ in range(26):
        stand_in.person()
    assert re.search(
        r"could take part now +\d\d", shell("publish", lab.run.ref, "--dry-run").output
    )


def test_a_test_study_shows_the_pages_to_test_participants_and_is_no_offer(lab, stand_in, shell):
    refused = shell("recruitment", "test", lab.run.ref)
    assert refused.exit_code != 0
    lab.publish()
    assert shell("recruitment", "test", lab.run.ref).exit_code != 0  # no test participant yet
    made = stand_in.api.post("/api/v1/researchers/participants/", json={"email": "a@b.example"})
    assert made.status_code == 201
    done = shell("recruitment", "test", lab.run.ref)
    assert done.exit_code == 0, done.output
    study = done.output.split()[-1].rpartition("/")[2]
    assert stand_in.person().try_to_take(study).status_code == 404
    shown = stand_in.api.get(f"/api/v1/studies/{study}/").json()
    assert "preview=1" in shown["external_study_url"]
    assert shell("reconcile", lab.run.ref).exit_code == 0
