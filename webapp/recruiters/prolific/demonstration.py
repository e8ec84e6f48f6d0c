"""The main job's steps at Prolific's stand-in."""

from functools import partial

import click

from webapp.core.clock import utc_now
from webapp.recruiters.demonstration import Demonstration, Stage, bonus_for_the_first
from webapp.recruiters.prolific.participant import ScreenedOutSession

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


def _screens_people_out(toml: str, _site: str) -> str:
    paid = toml.replace("[recruitment]\n", f"[recruitment]\n{_SCREEN_OUT_PAY}")
    return f"{paid}{_SCREENING}"


def _steps(stage: Stage) -> None:
    run = stage.run_ref
    stage.do("publish", run, "--yes")
    stage.visit(partial(ScreenedOutSession, site=stage.site))
    click.echo(
        f"{utc_now():%H:%M:%S} UTC: someone who does not fit the study's criteria opened the link."
    )
    stage.do_jobs()
    stage.do("simulate", run)
    stage.do_jobs()
    stage.do("recruitment", "status", run)
    stage.do("exclude", run)
    stage.do("export", run, "--out", str(stage.place / "export"))
    last = stage.finished()[-1]
    stage.do("reject", run, last, "--category", "LOW_EFFORT", "--reason", _REJECTED, "--yes")
    stage.do("approve", run, "--yes")
    stage.do("bonus", run, "--file", bonus_for_the_first(stage), "--yes")
    stage.do("recruitment", "screen-outs", run)
    # Whoever was screened out was paid by the platform itself, which the ledger learns now.
    stage.do("reconcile", run, "--fix")
    stage.do("review", run)
    stage.do("reconcile", run)


DEMONSTRATION = Demonstration(
    "prolific",
    'prolific_endpoint = "{site}"\n',
    _steps,
    _screens_people_out,
)
