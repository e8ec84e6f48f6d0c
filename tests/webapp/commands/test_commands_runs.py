"""The commands string the flows together and speak plainly when they cannot."""

import shutil
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from experiment.errors import UnknownNameError
from experiment.studies.load import STUDIES_FOLDER
from experiment.tables.files import read_table
from experiment.tables.schemas import RESPONSES
from marketplace.serving import serve_in_thread
from webapp import create_app
from webapp.commands.runs import close, open_
from webapp.errors import RunError, WebappError

pytestmark = pytest.mark.one_database


@pytest.fixture
def launched(shell) -> str:
    printed = shell("launch", "minimal", "--seed", "3", "--recruiter", "simulator")
    return printed.rpartition("/run/")[2].split()[0]


def row_of(shell, run: str) -> list[str]:
    (row,) = (line.split() for line in shell("runs").splitlines() if line.startswith(run))
    return row


@pytest.mark.one_database("postgresql")
def test_the_whole_flow_from_launch_to_export(shell, launched, instance):
    shell("serve", "--background", "--port", "0")
    assert "8 simulated participants finished" in shell("simulate", launched)
    assert "8 participants judged by the exclusion rules now" in shell("exclude", launched)
    assert "64 responses of 8 simulated participants" in shell("export", launched)
    assert "has stopped" in shell("stop")
    folder = instance / "exports" / launched
    assert len(list(read_table(RESPONSES, folder / "responses.parquet"))) == 64
    assert row_of(shell, launched)[1:9] == [
        "minimal", "simulator", "yes", "3", "yes", "8", "of", "8",
    ]  # fmt: skip


@pytest.fixture
def door(instance):
    """Return a function that calls the one or the other command on a run."""

    def turn(command: click.Command, run: str) -> str:
        arguments = [run, "--instance", str(instance)]
        return CliRunner().invoke(command, arguments, catch_exceptions=False).output

    return turn


def test_a_run_is_closed_and_opened_again(shell, launched, door):
    assert "is closed" in door(close, launched)
    assert row_of(shell, launched)[5] == "no"
    assert "is open" in door(open_, launched)
    assert row_of(shell, launched)[5] == "yes"


@pytest.mark.parametrize("command", [close, open_])
def test_an_unknown_run_has_no_door(launched, door, command):
    with pytest.raises(UnknownNameError, match=f'no run "nothere".*one of: {launched}'):
        door(command, "nothere")


def test_launch_says_that_the_audit_passed_and_where_to_go(shell, tmp_path):
    study = answerable_study(tmp_path)
    printed = shell("launch", str(study), "--seed", "1", "--recruiter", "direct")
    assert "Every check of the design passed" in printed
    assert "Participants come to: http://127.0.0.1:8000/run/" in printed


def answerable_study(folder: Path) -> Path:
    study = shutil.copytree(STUDIES_FOLDER / "minimal", folder / "minimal")
    toml = study / "study.toml"
    named = '[study]\ncontact = "Ada"\ninstitution = "A school"\nethics = "none is needed"\n'
    toml.write_text(toml.read_text("utf-8").replace("[study]\n", named), "utf-8")
    return study


def test_the_link_is_not_told_where_nobody_answers_to_living_people(shell):
    printed = shell("launch", "minimal", "--seed", "1", "--recruiter", "direct")
    assert "There is no link for participants yet" in printed and "/run/" not in printed
    assert "lacks contact, institution, ethics" in printed
    programs = shell("launch", "minimal", "--seed", "1", "--recruiter", "simulator")
    assert "Simulated participants come to: http://127.0.0.1:8000/run/" in programs


def test_nobody_simulated_is_sent_without_being_asked_for(shell):
    shell("launch", "minimal", "--seed", "1")
    assert " direct " in shell("runs")


def test_an_installation_without_runs_says_so(shell):
    assert shell("runs") == "There are no runs yet.\n"


@pytest.mark.parametrize("command", ["simulate", "exclude", "export"])
def test_an_unknown_run_is_answered_with_the_known_ones(shell, launched, command):
    with pytest.raises(UnknownNameError, match=f'no run "nothere".*one of: {launched}'):
        shell(command, "nothere")


@pytest.mark.parametrize("command", ["simulate", "exclude", "export"])
def test_before_the_first_launch_every_run_is_unknown(shell, command):
    with pytest.raises(RunError, match="no study has been launched here yet"):
        shell(command, "nothere")


def test_simulated_participants_are_refused_where_people_answer(shell):
    printed = shell("launch", "minimal", "--seed", "1", "--recruiter", "direct")
    with pytest.raises(RunError, match="is for people"):
        shell("simulate", printed.split("Run ")[1].split()[0])


def test_visits_that_fail_are_reported_and_fail_the_command(shell, launched, tmp_path):
    elsewhere = create_app(tmp_path / "elsewhere")
    with (
        serve_in_thread(elsewhere) as url,
        pytest.raises(RunError, match=r"2 did not finish: number 1: .*answered with 404"),
    ):
        shell("simulate", launched, "--participants", "2", "--url", url)
    elsewhere.extensions["parallax"].engine.dispose()


def test_more_participants_than_free_places_are_refused(shell, launched):
    with pytest.raises(RunError, match="has 8 free places, not 9"):
        shell("simulate", launched, "--participants", "9")


def test_simulate_without_a_server_says_how_to_start_one(shell, launched):
    with pytest.raises(WebappError, match="Start a server with: parallax serve"):
        shell("simulate", launched, "--url", "http://127.0.0.1:9")


def test_an_export_with_nothing_in_it_is_refused(shell, launched, tmp_path):
    with pytest.raises(RunError, match="nothing to export"):
        shell("export", launched, "--out", str(tmp_path / "there"))
    assert not (tmp_path / "there").exists()


def test_an_unknown_study_launches_nothing(shell):
    with pytest.raises(UnknownNameError, match='Did you mean "minimal"'):
        shell("launch", "minimall", "--seed", "1")
    assert shell("runs") == "There are no runs yet.\n"
