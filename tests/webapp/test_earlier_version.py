"""What an earlier version left is upgraded on request, and everything goes on from there.

``tests/data/earlier`` says how it was made.
"""

import csv
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

import parallax
from tests.analysis.small_run import compared
from tests.webapp.conftest import Visitor
from webapp import create_app
from webapp.database.schema import revisions

EARLIER = Path(__file__).parent.parent / "data" / "earlier"
PAID_RUN, OPEN_RUN = "kf4anrp4j78w", "7q3cnqe86r5x"
OPEN_SESSION = "/p/fdfsau9pjtc7.6FKLMPVMSbdCGInF_w1ZqmP6yus/"
# Two minutes after the last answer in the open session.
SOON = datetime(2026, 11, 22, 7, 4, tzinfo=UTC)
EXPORTED = sorted((EARLIER / "export").glob("*.csv"))
Shell = Callable[..., str]


def shell_in(folder: Path) -> Shell:
    """Return a function that runs a command in an instance folder and gives what it printed."""
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(folder)})

    def run(*arguments: object) -> str:
        return runner.invoke(parallax.cli, list(map(str, arguments)), catch_exceptions=False).output

    return run


@pytest.fixture(scope="module")
def upgraded_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The earlier version's instance folder after the upgrade, which nobody changes."""
    folder = tmp_path_factory.mktemp("earlier") / "instance"
    folder.mkdir()
    with closing(sqlite3.connect(folder / "parallax.sqlite3")) as database:
        database.executescript((EARLIER / "parallax.sql").read_text("utf-8"))
    shutil.copyfile(EARLIER / "secret_key", folder / "secret_key")
    (folder / "secret_key").chmod(0o600)
    shell_in(folder)("db", "upgrade")
    return folder


@pytest.fixture(scope="module")
def exported(upgraded_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What this version exports of the run that the earlier one exported."""
    folder = tmp_path_factory.mktemp("exported")
    shell = shell_in(shutil.copytree(upgraded_once, folder / "instance"))
    shell("exclude", PAID_RUN)  # decides nothing anew
    shell("export", PAID_RUN, "--out", folder / "export")
    return folder / "export"


@pytest.fixture
def upgraded(upgraded_once: Path, tmp_path: Path) -> Path:
    return shutil.copytree(upgraded_once, tmp_path / "instance")


@pytest.fixture
def shell(upgraded: Path) -> Shell:
    return shell_in(upgraded)


@pytest.fixture
def returning(upgraded: Path):
    """Who stopped after three trials, back at the same address."""
    app = create_app(upgraded, now=lambda: SOON)
    yield Visitor(app.test_client(), OPEN_SESSION)
    app.extensions["parallax"].engine.dispose()


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_an_upgrade_brings_the_schema_of_this_version(shell):
    assert f"the schema {revisions()[-1]}, which is the current one" in shell("db", "status")


def test_the_runs_are_listed_as_far_as_they_had_come(shell):
    header, *runs = (line.split() for line in shell("runs").splitlines())
    assert header[:2] == ["run", "study"]
    assert [run[:2] for run in runs] == [[PAID_RUN, "minimal"], [OPEN_RUN, "minimal"]]
    assert [run[-5:] for run in runs] == [["8", "of", "8", "8", "1"], ["2", "of", "8", "1", "0"]]


def test_an_open_session_goes_on_where_it_was_and_is_judged_and_exported(
    shell, returning, tmp_path
):
    session = returning.session()
    assert sorted(session["answered"]) == [1, 2, 3]
    for position in range(4, 9):
        assert returning.answer(position).status_code == 200
    done = returning.questionnaire(native_language="Italian")
    assert done.status_code == 303
    shell("exclude", OPEN_RUN)
    shell("unblind", OPEN_RUN, "--reason", "The run is over.")
    shell("export", OPEN_RUN, "--out", tmp_path / "export")
    verdicts = table(tmp_path / "export" / "verdicts.csv")
    assert "fdfsau9pjtc7" in {row["participant"] for row in verdicts}
    answered = table(tmp_path / "export" / "responses.csv")
    assert [row["position"] for row in answered if row["participant"] == "fdfsau9pjtc7"] == [
        str(position) for position in range(1, 9)
    ]


def test_somebody_new_is_let_in(returning):
    arrived = returning.client.post(f"/run/{OPEN_RUN}", data={"decision": "accept"})
    assert arrived.status_code == 303
    assert len(Visitor(returning.client, arrived.location).session()["trials"]) == 8


# The changelog says so: amounts are of any currency now, and it stands beside them.
RENAMED = {"amount_cents": "amount_minor"}


@pytest.mark.parametrize("path", EXPORTED, ids=lambda path: path.name)
def test_an_export_holds_what_the_earlier_version_exported_in_columns_of_the_same_names(
    exported, path
):
    before, now = table(path), table(exported / path.name)
    assert before
    before = [{RENAMED.get(name, name): value for name, value in row.items()} for row in before]
    names = list(before[0])
    assert [name for name in now[0] if name in names] == names
    assert [{name: row[name] for name in names} for row in now] == before


def test_what_was_paid_is_not_paid_again(shell):
    output = shell("review", PAID_RUN)
    assert output.count("approved") == 8


def test_the_study_of_an_earlier_export_is_the_one_that_was_launched(exported):
    for path in (EARLIER / "export" / "study").rglob("*.*"):
        again = exported / "study" / path.relative_to(EARLIER / "export" / "study")
        assert again.read_bytes() == path.read_bytes()


def test_an_export_of_the_earlier_version_is_still_compared():
    found = compared(EARLIER / "export")
    people = found.by_construction
    before = table(EARLIER / "export" / "responses.csv")
    kept = {
        v["participant"] for v in table(EARLIER / "export" / "verdicts.csv") if v["kept"] == "true"
    }
    assert found.provenance.n_judgments == sum(row["participant"] in kept for row in before)
    assert set(people["judge"]) == {"people"}
