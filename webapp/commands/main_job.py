"""The main job's steps at a recruiting platform, as commands that could be typed by themselves."""

import csv
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import click
import httpx

from experiment.studies.files import write_study_files
from experiment.studies.load import load_study
from webapp.commands.options import open_sessions
from webapp.core.clock import utc_now
from webapp.database.engine import reading
from webapp.recruiters.settings import load_settings
from webapp.runs.runs import named_run, study_as_launched
from webapp.server.process import running
from webapp.simulation.plan import plan

# Runs a command of parallax in the installation.
Run = Callable[..., object]
_TIMEOUT_S = 60.0
_REJECTED = (
    "Simulated: this work is rejected to show how a rejection is made, with a category and a reason"
    " of at least a hundred characters."
)
_SCREENING = """
[[screening]]
name = "reads_english"
label = "Do you read English fluently?"
type = "choice"
options = ["Yes", "No"]
accept = ["Yes"]
"""
_SCREEN_OUT_PAY = 'screen_out_reward = "0.15"\nscreen_out_places = 5\n'


def _at_mturk(do: Run, run: str, place: Path) -> None:
    do("publish", run, "--yes")
    do("simulate", run)
    do("exclude", run)
    do("approve", run, "--yes")
    do("export", run, "--out", str(place / "export"))
    do("bonus", run, "--file", _bonus_for_the_first(place), "--yes")
    do("recruitment", "status", run)
    do("reconcile", run)


def _at_prolific(do: Run, run: str, place: Path) -> None:
    do("publish", run, "--yes")
    _be_screened_out(run, place)
    _complete_now(place)
    do("simulate", run)
    _complete_now(place)
    do("recruitment", "status", run)
    do("exclude", run)
    do("export", run, "--out", str(place / "export"))
    last = _participants(place)[-1]
    do("reject", run, last, "--category", "LOW_EFFORT", "--reason", _REJECTED, "--yes")
    do("approve", run, "--yes")
    do("bonus", run, "--file", _bonus_for_the_first(place), "--yes")
    do("recruitment", "screen-outs", run)
    # Whoever was screened out was paid by the platform itself, which the ledger learns now.
    do("reconcile", run, "--fix")
    do("review", run)
    do("reconcile", run)


STEPS: Mapping[str, Callable[[Run, str, Path], None]] = {
    "mturk": _at_mturk,
    "prolific": _at_prolific,
}
# What the installation of the main job is set to besides where the stand-in answers.
SETTINGS = {"mturk": "", "prolific": "prolific_signed_arrivals = true\n"}


def study_for(recruiter: str, name: str, place: Path) -> str:
    """Return the study to launch: the one named, or a copy that also screens people out."""
    if recruiter != "prolific":
        return name
    study = load_study(name)
    copy = place / "study" / study.name
    write_study_files(study, copy)
    toml = (copy / "study.toml").read_text(encoding="utf-8")
    toml = toml.replace("[recruitment]\n", f"[recruitment]\n{_SCREEN_OUT_PAY}")
    (copy / "study.toml").write_text(f"{toml}{_SCREENING}", encoding="utf-8")
    return str(copy)


def _be_screened_out(run: str, place: Path) -> None:
    """Send a participant who is not eligible for the study, and is paid for the screening."""
    from webapp.recruiters.prolific.participant import ScreenedOutSession
    from webapp.recruiters.prolific.settings import ProlificSettings
    from webapp.recruiters.prolific.sites import participant_site

    with reading(open_sessions(place)) as session:
        found = named_run(session, run)
        known = plan(session, found, study_as_launched(session, found))
    settings = load_settings(place).of_recruiter("prolific", ProlificSettings)
    server, site = running(place), participant_site(settings)
    assert server is not None, "the demonstration started the server first"
    with httpx.Client(base_url=server.url, timeout=_TIMEOUT_S, trust_env=False) as client:
        visit = ScreenedOutSession(client, known, 0, site=site)
        visit.arrive()
        visit.take_part()
    click.echo(
        f"{utc_now():%H:%M:%S} UTC: someone who does not fit the study's criteria opened the link."
    )


def _complete_now(place: Path) -> None:
    """Let the server's jobs be done now: by itself it completes submissions within a minute."""
    command = ("work", "--once", "--instance", str(place))
    click.secho(f"\n$ parallax {shlex.join(command)}", bold=True)
    # In a process of its own, because it sets up the log of its whole process.
    done = subprocess.run(
        [sys.executable, "-m", "parallax", *command], capture_output=True, text=True, check=False
    )
    click.echo((done.stdout or done.stderr).strip())


def _participants(place: Path) -> list[str]:
    """Return the participants who finished, as the export names them."""
    with (place / "export" / "participants.csv").open(encoding="utf-8") as file:
        rows = csv.DictReader(file)
        return [row["participant"] for row in rows if row["state"] == "finished"]


def _bonus_for_the_first(place: Path) -> str:
    """Return a file that gives the first participant a bonus, whom the export names."""
    first, bonuses = _participants(place)[0], place / "bonuses.csv"
    bonuses.write_text(
        f"participant,amount,reason\n{first},0.25,You were the first.\n", encoding="utf-8"
    )
    return str(bonuses)
