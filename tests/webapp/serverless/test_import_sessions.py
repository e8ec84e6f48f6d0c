"""What is wrong with session files is named, and what is right becomes a run."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import func, select

from benchmarks.static_study import Browser, Person, larger_minimal, opened, run_command
from parallax import cli
from webapp.database.engine import make_engine
from webapp.database.models import Answer, Participant, Response, Run
from webapp.serverless.session_files import compute_checksum


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return larger_minimal(tmp_path, 3)


@pytest.fixture
def site(tmp_path: Path, study: Path) -> Path:
    return written(tmp_path, study, "site")


def written(tmp_path: Path, study: Path, name: str, *options: str) -> Path:
    out = tmp_path / name
    run_command(
        "study", "static", str(study), "--seed", "1", "--simulated", "--out", str(out),
        "--instance", str(tmp_path / "instance"), *options,
    )  # fmt: skip
    return out


def keep(tmp_path: Path, name: str, content: object) -> Path:
    folder = tmp_path / "kept"
    folder.mkdir(exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def imported(tmp_path: Path) -> str:
    return run_command(
        "import", "sessions", str(tmp_path / "kept"), "--instance", str(tmp_path / "instance")
    )


def browser(site: Path, number: int, session: int | None = None) -> Browser:
    return opened(site, Person(number, None), session or number, "counter")


def signed(entry: dict[str, object]) -> dict[str, object]:
    told = [str(entry[name]) for name in ("folder", "session", "n", "kind", "at", "body")]
    entry["check"] = compute_checksum("\n".join(told))
    return entry


UNFIT = [
    ("consent", {"code": "A"}, "consent 1: its code has not the form of a participant's code"),
    ("place", {"number": 99}, "the folder has no session 99"),
    ("consent", {"decision": "decline"}, "its participant has not agreed, or has no place"),
]


@pytest.mark.parametrize(("kind", "change", "told"), UNFIT, ids=[one[2] for one in UNFIT])
def test_what_no_page_of_the_folder_makes_is_told(tmp_path, site, kind, change, told):
    entries = browser(site, 1).entries
    for entry in entries:
        if entry["kind"] == kind:
            entry["body"] = json.dumps(json.loads(entry["body"]) | change)
            signed(entry)
    keep(tmp_path, "a.json", entries)
    assert told in imported(tmp_path)


def test_entries_that_come_twice_count_once(tmp_path, site):
    entries = browser(site, 1).entries
    keep(tmp_path, "whole.json", entries)
    keep(tmp_path, "partial.json", [json.dumps(entry) for entry in entries[:5]])
    told = imported(tmp_path)
    assert "5 entries are copies of others, and do not count." in told
    assert "1 finished" in told


def test_the_same_study_in_two_projects_is_two_folders_whose_sessions_stay_apart(tmp_path, study):
    instance = ("--instance", str(tmp_path / "instance"))
    sites = {}
    for name in ("lab", "clinic"):
        run_command("projects", "add", name, *instance)
        sites[name] = written(tmp_path, study, name, "--project", name)
    again = run_command("projects", "list", *instance)
    assert sites["lab"].joinpath("index.html").read_bytes() != (
        sites["clinic"].joinpath("index.html").read_bytes()
    )
    keep(tmp_path, "one.json", browser(sites["clinic"], 1).entries)
    told = imported(tmp_path)
    engine = make_engine(f"sqlite:///{tmp_path}/instance/parallax.sqlite3")
    with engine.connect() as connection:
        rows = connection.exec_driver_sql(
            "SELECT project.name, run.ref, (SELECT count(*) FROM participant WHERE run_id = run.id)"
            " FROM run JOIN project ON project.id = run.project_id"
        ).all()
    engine.dispose()
    assert {(name, people) for name, _, people in rows} == {("lab", 0), ("clinic", 1)}
    [ref] = [ref for name, ref, _ in rows if name == "clinic"]
    assert ref in told and "clinic" in again


def test_an_entry_that_was_changed_by_hand_is_named_and_left_out(tmp_path, site):
    entries = browser(site, 1).entries
    entries[4]["body"] = (
        entries[4]["body"].replace('"first"', '"second"').replace('"rt_ms": ', '"rt_ms": 1')
    )
    keep(tmp_path, "a.json", entries)
    told = imported(tmp_path)
    assert "Session p00000000001: 1 entries are not as the browser wrote them" in told
    assert "Session p00000000001: 1 entries are not in the files." in told
    assert "finished" not in told.partition("Run ")[2].splitlines()[0]


def test_a_file_that_is_cut_short_or_none_of_ours_is_named(tmp_path, site):
    keep(tmp_path, "a.json", browser(site, 1).entries)
    keep(tmp_path, "cut.json", json.dumps(browser(site, 2).entries)[:-30])
    keep(tmp_path, "other.json", [{"trial_type": "html-keyboard-response"}])
    told = imported(tmp_path)
    assert "cut.json: it is not JSON, or is cut short" in told
    assert "other.json: it holds nothing that a page of Parallax wrote" in told
    assert "1 finished" in told


ODD_BODIES = (
    '{"decision": "accept", "parameters": [1], "code": "a"}',
    '{"number": Infinity}',
    "[" * 100_000,
    '{"decision": 3}',
)


def test_an_odd_file_in_an_open_store_stops_nobody_elses_session(tmp_path, site):
    keep(tmp_path, "a.json", browser(site, 1).entries)
    for number, body in enumerate(ODD_BODIES):
        entries = [dict(entry) for entry in browser(site, 2).entries[:3]]
        entries[number % 2] |= {"session": f"p9999999999{number}", "body": body}
        for entry in entries:
            entry["session"] = f"p9999999999{number}"
            signed(entry)
        keep(tmp_path, f"odd{number}.json", entries)
    keep(tmp_path, "deep.json", "[" * 100_000)
    one = dict(browser(site, 3).entries[0]) | {"folder": "\ud800"}
    keep(tmp_path, "surrogate.json", json.dumps([one]))
    late = dict(browser(site, 3).entries[0]) | {"at": "0001-01-01T00:00:00+14:00"}
    keep(tmp_path, "late.json", json.dumps([late]))
    told = imported(tmp_path)
    assert "1 finished" in told
    assert "deep.json" in told


def test_sessions_of_changed_materials_stay_in_a_run_of_their_own(tmp_path, study, site):
    keep(tmp_path, "a.json", browser(site, 1).entries)
    toml = study / "study.toml"
    toml.write_text(toml.read_text().replace("Which", "Now: which"), encoding="utf-8")
    (study / "texts/en/instructions.md").write_text("# Other instructions\n\nChoose.\n")
    other = written(tmp_path, study, "again")
    keep(tmp_path, "b.json", browser(other, 2).entries)
    told = imported(tmp_path)
    runs = [line for line in told.splitlines() if line.startswith("Run ")]
    assert len(runs) == 2
    assert all("1 finished" in line for line in runs)


def test_the_same_study_written_again_is_the_same_run(tmp_path, study, site):
    again = written(tmp_path, study, "again")
    assert browser(again, 1).version == browser(site, 1).version
    keep(tmp_path, "a.json", browser(again, 1).entries)
    assert imported(tmp_path).count("Run ") == 1


def test_a_folder_that_was_not_written_here_is_named_and_nothing_is_stored(tmp_path, site):
    entries = browser(site, 1).entries
    keep(tmp_path, "a.json", entries)
    command = ["import", "sessions", str(tmp_path / "kept"), "--instance", str(tmp_path / "new")]
    result = CliRunner().invoke(cli, command)
    assert result.exit_code != 0
    assert entries[0]["folder"] in str(result.exception)


def test_a_counter_that_repeats_or_jumps_is_named_and_everybody_is_kept(tmp_path, study):
    site = written(tmp_path, study, "counted", "--store", "datapipe", "--experiment", "e")
    for number, session in ((1, 1), (2, 1), (3, 4)):
        keep(tmp_path, f"{number}.json", browser(site, number, session).entries)
    told = imported(tmp_path)
    assert "3 finished" in told
    assert "1 sessions were given to several people: 1." in told
    assert "2 numbers below the highest belong to no session here: 2, 3." in told


def test_two_sessions_of_one_person_of_a_panel_are_one_participant(tmp_path, study):
    with (study / "study.toml").open("a", encoding="utf-8") as file:
        file.write('\n[panel]\nperson = ["rid"]\ncodes.completed = "C"\n')
        file.write('address = "https://p.example/back?{code}"\n[panel.parameters.rid]\n')
    site = written(tmp_path, study, "panel")
    for number, rid in ((1, "a7"), (2, "a7"), (3, "b2")):
        entries = browser(site, number).entries
        consent = json.loads(entries[0]["body"]) | {"parameters": {"rid": rid}}
        entries[0]["body"] = json.dumps(consent)
        signed(entries[0])
        keep(tmp_path, f"{number}.json", entries)
    told = imported(tmp_path)
    assert "2 finished" in told
    assert "p00000000002: consent 1: the same person has another session in this run" in told


def test_importing_again_with_more_files_adds_what_is_new_and_nothing_twice(tmp_path, site):
    entries = browser(site, 1).entries
    keep(tmp_path, "a.json", entries[:6])
    assert "1 working" in imported(tmp_path)
    keep(tmp_path, "b.json", entries)
    assert "1 finished" in imported(tmp_path)
    assert "1 finished" in imported(tmp_path)


@pytest.mark.parametrize(("own", "state"), [(True, "1 withdrawn"), (False, "1 finished")])
def test_only_who_knows_the_sessions_code_can_have_it_erased(tmp_path, site, own, state):
    entries = browser(site, 1).entries
    keep(tmp_path, "a.json", entries)
    imported(tmp_path)
    code = json.loads(entries[0]["body"])["code"] if own else "abcdefgh2345"
    wish = dict(entries[-1]) | {"n": len(entries) + 1, "kind": "withdraw"}
    wish["body"] = json.dumps({"wish": "erase", "code": code})
    keep(tmp_path, "wish.json", [signed(wish)])
    told = imported(tmp_path)
    assert state in told
    assert ("it does not name the session's own code, so anybody may" in told) is not own


@pytest.mark.parametrize("command", ["erase", "forget"])
def test_the_session_of_an_erased_person_stays_erased_when_its_file_is_imported_again(
    tmp_path, site, command
):
    """The store of a static study still has the file, so each later import reads it again."""
    entries = browser(site, 1).entries
    keep(tmp_path, "a.json", entries)
    assert "1 finished" in imported(tmp_path)
    instance = tmp_path / "instance"
    code, run = json.loads(entries[0]["body"])["code"], counted(instance)[0]
    words = ("erase", run, code) if command == "erase" else ("forget", code, "--although-unpaid")
    run_command(*words, "--yes", "--instance", str(instance))
    assert counted(instance) == (run, 1, 0, 0)
    keep(tmp_path, "the_same_again.json", entries)
    for _ in range(2):
        imported(tmp_path)
        assert counted(instance) == (run, 1, 0, 0)


def counted(instance: Path) -> tuple[str, int, int, int]:
    """The run, and the numbers of its participants, of responses and of answers."""
    with make_engine(f"sqlite:///{instance / 'parallax.sqlite3'}").connect() as connection:
        numbers = (
            connection.scalar(select(func.count()).select_from(table))
            for table in (Participant, Response, Answer)
        )
        return (str(connection.scalar(select(Run.ref))), *map(int, numbers))
