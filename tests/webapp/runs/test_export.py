"""An export is whole, says what it is, and gives away nobody."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from sqlalchemy import select

import webapp.runs.export as export_flow
from experiment.materials.item_rows import item_from_row
from experiment.studies.load import load_study
from experiment.tables.atomic_write import WritingError
from experiment.tables.files import read_table
from experiment.tables.schemas import (
    ANSWERS,
    CONSENTS,
    EXPORT_TABLES,
    PARTICIPANTS,
    RESPONSES,
    TRIALS,
)
from webapp.core.clock import utc_now
from webapp.database.engine import reading
from webapp.database.models import Answer, Event, Participant, Payment, Run
from webapp.errors import RunError
from webapp.runs.exclude import store_verdicts
from webapp.runs.export import export_run

pytestmark = pytest.mark.one_database


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "exports" / "run"


@pytest.fixture
def write(sessions, simulated_run, folder):
    """Return a function that exports the run."""

    def to_folder(run: Run = simulated_run):
        with reading(sessions) as session:
            return export_run(session, run, folder)

    return to_folder


@pytest.fixture
def exported_here(send, sessions, simulated_run, write, folder) -> Path:
    send(participants=2)
    with sessions.begin() as session:
        store_verdicts(session, simulated_run, utc_now())
        for person in session.scalars(select(Participant)):
            session.add_all(payments(person))
            session.add(Event(participant_id=person.id, kind="left", detail={}, at=utc_now()))
    write()
    return folder


@pytest.fixture(scope="module")
def read_only() -> dict[str, Path]:
    """The exports of this module that are only read, by the database that they come from."""
    return {}


@pytest.fixture
def exported(request, database_url, read_only, tmp_path_factory) -> Path:
    """The same run, exported once for all tests that only read what was written."""
    database = "postgresql" if database_url else "sqlite"
    if database not in read_only:
        folder = tmp_path_factory.mktemp("exports") / "run"
        read_only[database] = shutil.copytree(request.getfixturevalue("exported_here"), folder)
    return read_only[database]


def payments(person: Participant) -> list[Payment]:
    """A reward that was paid, and a bonus that nobody knows of."""
    return [
        Payment(
            run_id=person.run_id, participant_id=person.id, worker_id="AWORKER", kind=kind,
            assignment="ASSIGNMENT", amount_minor=20, reason="", token=f"{person.ref} {kind}",
            state=state, made_at=utc_now(), settled_at=utc_now(), answer="",
        )
        for kind, state in (("reward", "done"), ("bonus", "unknown"))
    ]  # fmt: skip


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_an_export_has_the_files_and_headers_that_were_reviewed(exported, file_regression):
    lines = []
    for path in sorted(path for path in exported.rglob("*") if path.is_file()):
        lines.append(path.relative_to(exported).as_posix())
        if path.suffix == ".csv" and path.parent == exported:
            header, *_ = path.read_text("utf-8").splitlines()
            lines += [f"  {name}" for name in header.split(",")]
    file_regression.check("\n".join(lines) + "\n", basename="export", newline="\n")


@pytest.mark.parametrize("table", EXPORT_TABLES, ids=lambda table: table.name)
@pytest.mark.both_databases
def test_every_table_fits_its_schema_and_is_the_same_in_both_formats(exported, table):
    as_csv = list(read_table(table, exported / f"{table.name}.csv"))
    assert as_csv == list(read_table(table, exported / f"{table.name}.parquet"))
    keys = [tuple(row[name] for name in table.primary_key) for row in as_csv]
    assert keys and len(set(keys)) == len(keys)


def test_each_table_is_read_once_for_both_formats(send, write, folder, monkeypatch):
    read, stream = [], export_flow.stream_rows

    def noting(session, run, table):
        read.append(table.name)
        return stream(session, run, table)

    monkeypatch.setattr(export_flow, "stream_rows", noting)
    send(participants=1)
    write()
    # The design's columns are made from the items, which are read before.
    assert sorted(read) == sorted(["items", *(path.stem for path in folder.glob("*.csv"))])
    assert len(read) > len(EXPORT_TABLES)


@pytest.mark.both_databases
def test_the_tables_hold_everything_once(exported):
    counted = {
        table.name: len(list(read_table(table, exported / f"{table.name}.parquet")))
        for table in EXPORT_TABLES
    }
    assert counted == {
        "items": 16, "lists": 16, "participants": 2, "consents": 2, "endings": 2,
        "devices": 2, "answers": 2,
        "trials": 16, "responses": 16, "timings": 16, "events": 2, "integrity": 2,
        "verdicts": 2, "payments": 2,
    }  # fmt: skip


def test_responses_agree_with_the_trials_they_answer(exported):
    good = {
        (row["participant"], row["position"]): (row["item_id"], row["good_side"])
        for row in read_table(TRIALS, exported / "trials.csv")
    }
    for row in read_table(RESPONSES, exported / "responses.csv"):
        item_id, good_side = good[row["participant"], row["position"]]
        assert row["item_id"] == item_id
        assert row["chose_good"] is (row["chosen_side"] == good_side)


def test_the_codebook_describes_every_file_as_it_is(exported):
    package = json.loads((exported / "datapackage.json").read_text("utf-8"))
    assert package["$schema"].startswith("https://datapackage.org/profiles/2.0/")
    names = [resource["name"] for resource in package["resources"]]
    assert len(set(names)) == len(names) == 2 * len(EXPORT_TABLES)
    for resource in package["resources"]:
        data = (exported / resource["path"]).read_bytes()
        assert resource["bytes"] == len(data)
        assert resource["hash"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
    tables = [one for one in package["resources"] if one.get("type") == "table"]
    assert {one["name"] for one in tables} == {table.name for table in EXPORT_TABLES}
    for resource in tables:
        fields = [field["name"] for field in resource["schema"]["fields"]]
        assert set(resource["schema"]["primaryKey"]) <= set(fields)
        for key in resource["schema"].get("foreignKeys", []):
            assert key["reference"]["resource"] in names


def test_foreign_keys_lead_to_the_participants_and_the_items(exported):
    package = json.loads((exported / "datapackage.json").read_text("utf-8"))
    schemas = {one["name"]: one["schema"] for one in package["resources"] if "schema" in one}
    references = [key["reference"] for key in schemas["responses"]["foreignKeys"]]
    assert {(r["resource"], *r["fields"]) for r in references} == {
        ("items", "item_id"),
        ("participants", "participant"),
    }
    assert "foreignKeys" not in schemas["participants"]


def test_units_and_allowed_values_stand_in_the_codebook(exported):
    package = json.loads((exported / "datapackage.json").read_text("utf-8"))
    (responses,) = (r for r in package["resources"] if r["name"] == "responses")
    fields = {field["name"]: field for field in responses["schema"]["fields"]}
    assert fields["rt_ms"]["unit"] == "ms"
    assert "constraints" not in fields["rt_ms"]
    assert fields["chosen_side"]["constraints"] == {"required": True, "enum": ["first", "second"]}


def test_the_codebook_says_where_the_data_come_from(exported_here, simulated_run):
    facts = json.loads((exported_here / "datapackage.json").read_text("utf-8"))["parallax"]
    assert facts["run"] == simulated_run.ref
    assert facts["seed"] == simulated_run.seed
    assert facts["materials_hash"] == simulated_run.materials_hash
    assert facts["rendering"] == "sentence_case"
    assert (facts["response"], facts["lockout_ms"]) == ("sentence_pair", 150)
    assert facts["n_responses"] == 16
    assert facts["n_kept"] + facts["n_excluded"] == facts["n_finished"] == 2


def test_simulated_data_say_so_wherever_one_looks(exported):
    facts = json.loads((exported / "datapackage.json").read_text("utf-8"))["parallax"]
    assert facts["simulated"] is True
    assert facts["n_simulated"] == 2
    participants = read_table(PARTICIPANTS, exported / "participants.csv")
    assert all(row["simulated"] for row in participants)
    assert "Simulated" in (exported / "README.md").read_text("utf-8")


def test_people_s_data_are_not_called_simulated(visitor, run, write, folder):
    visitor.answer_all()
    facts = write(run)
    assert (facts["simulated"], facts["n_simulated"]) == (False, 0)
    assert not any(r["simulated"] for r in read_table(PARTICIPANTS, folder / "participants.csv"))
    assert "Simulated" not in (folder / "README.md").read_text("utf-8")


@pytest.mark.both_databases
def test_who_is_at_work_is_exported_as_far_as_they_came(visitor, run, write, folder):
    visitor.answer(1)
    write(run)
    (participant,) = read_table(PARTICIPANTS, folder / "participants.parquet")
    assert participant["state"] == "working"
    assert participant["finished_at"] is None
    assert len(list(read_table(RESPONSES, folder / "responses.csv"))) == 1


@pytest.mark.both_databases
def test_what_a_platform_calls_people_never_leaves(send, sessions, write, folder):
    send(participants=2)
    with sessions.begin() as session:
        for participant in session.scalars(select(Participant)):
            participant.platform_id = f"A1WORKER{participant.id}"
            participant.visit_mark = f"A1WORKER{participant.id}"
    write()
    assert not any(b"A1WORKER" in data for data in contents(folder).values())


@pytest.mark.both_databases
def test_no_answer_becomes_a_formula_and_each_can_be_had_back(send, sessions, write, folder):
    given = [f"{start}SUM(1)" for start in ("=", "+", "-", "@", "\t", "\n", "'")]
    send(participants=len(given))
    with sessions.begin() as session:
        for answer, text in zip(session.scalars(select(Answer)), given, strict=True):
            answer.value = text
    write()
    in_csv = [row["value"] for row in read_table(ANSWERS, folder / "answers.csv")]
    in_parquet = [row["value"] for row in read_table(ANSWERS, folder / "answers.parquet")]
    assert sorted(in_csv) == sorted(f"'{text}" for text in given)
    assert sorted(in_parquet) == sorted(given)


def test_no_line_end_in_an_answer_ends_the_row(send, sessions, write, folder):
    send(participants=1)
    with sessions.begin() as session:
        session.scalars(select(Answer)).one().value = "one\rtwo\r\nthree\n=four"
    write()
    (in_csv,) = read_table(ANSWERS, folder / "answers.csv")
    assert in_csv["value"] == "one\ntwo\nthree\n=four"


def test_the_study_goes_along_and_can_be_read(exported, study):
    copy = load_study(str(exported / "study"))
    assert copy.study == study.study
    assert copy.grammar_path.read_bytes() == study.grammar_path.read_bytes()
    assert copy.text("consent") == study.text("consent")


def test_the_texts_that_people_agreed_to_go_along_with_their_hashes(exported):
    folder = exported / "consent"
    hashes = {
        int(path.stem): hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()
    }
    rows = list(read_table(CONSENTS, exported / "consents.csv"))
    assert rows and {row["consent_version"]: row["consent_sha256"] for row in rows} == hashes


def test_items_are_those_of_the_lists(exported):
    lists, items = EXPORT_TABLES[1], EXPORT_TABLES[0]
    listed = [row["item_id"] for row in read_table(lists, exported / "lists.csv")]
    stored = [item_from_row(row) for row in read_table(items, exported / "items.csv")]
    assert [item.item_id for item in stored] == listed


@pytest.mark.both_databases
def test_exporting_again_gives_the_same_bytes(exported_here, write):
    before = contents(exported_here)
    write()
    assert contents(exported_here) == before


def test_an_earlier_export_is_replaced_as_a_whole(send, write, folder):
    send(participants=2)
    write()
    send(participants=2)
    write()
    assert len(list(read_table(PARTICIPANTS, folder / "participants.csv"))) == 4
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def break_off_at(table, monkeypatch):
    whole = export_flow.stream_rows

    def broken(session, run, schema):
        rows = whole(session, run, schema)
        if schema.name == table.name:
            yield next(rows)
            raise KeyboardInterrupt
        yield from rows

    monkeypatch.setattr(export_flow, "stream_rows", broken)


@pytest.mark.parametrize("table", [EXPORT_TABLES[0], RESPONSES], ids=lambda table: table.name)
def test_breaking_off_leaves_nothing_behind(send, write, folder, monkeypatch, table):
    send(participants=1)
    break_off_at(table, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        write()
    assert list(folder.parent.iterdir()) == []


def test_breaking_off_keeps_the_earlier_export(exported_here, write, monkeypatch):
    before = contents(exported_here)
    break_off_at(RESPONSES, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        write()
    assert contents(exported_here) == before
    assert [path.name for path in exported_here.parent.iterdir()] == [exported_here.name]


def test_what_a_killed_export_left_is_cleared_away(send, write, folder):
    send(participants=1)
    leftover = folder.parent / f".{folder.name}.new"
    leftover.mkdir(parents=True)
    (leftover / "responses.csv").write_text("half a ta")
    write()
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_a_folder_with_other_files_is_left_alone(exported_here, write):
    notes = exported_here / "notes.txt"
    notes.write_text("mine")
    with pytest.raises(WritingError, match=r"would remove notes\.txt"):
        write()
    assert notes.read_text() == "mine"


def test_a_place_that_cannot_be_written_is_named(send, write, folder):
    send(participants=1)
    folder.parent.parent.joinpath("exports").write_text("a file where a folder should be")
    with pytest.raises(WritingError, match="cannot be written"):
        write()


def test_a_file_of_that_name_is_left_alone(send, write, folder):
    send(participants=1)
    folder.parent.mkdir()
    folder.write_text("mine")
    with pytest.raises(WritingError, match="would remove run"):
        write()
    assert folder.read_text() == "mine"


def test_a_run_without_answers_is_not_exported(write, folder):
    with pytest.raises(RunError, match="nothing to export"):
        write()
    assert not folder.parent.exists()
