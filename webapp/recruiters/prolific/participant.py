"""Simulated participants on Prolific's stand-in, and the demonstration's steps with them."""

import hashlib
from functools import partial
from urllib.parse import urlsplit

import click

from experiment.studies.question import ScreeningQuestion
from webapp.core.clock import utc_now
from webapp.recruiters.demonstration import Demonstration, Stage, write_first_bonus
from webapp.recruiters.simulated_session import SiteSession

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


def _list_steps(stage: Stage) -> None:
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
    stage.do("bonus", run, "--file", write_first_bonus(stage), "--yes")
    stage.do("recruitment", "screen-outs", run)
    # The platform itself paid the screened-out participants; reconciling adds that to the ledger.
    stage.do("reconcile", run, "--fix")
    stage.do("review", run)
    stage.do("reconcile", run)


DEMONSTRATION = Demonstration(
    "prolific",
    'prolific_endpoint = "{site}"\n',
    _list_steps,
    _screens_people_out,
)
_ID_CHARS = 24


class ParticipantSession(SiteSession):
    """A simulated participant, from the platform's list to the closing page."""

    def arrive(self) -> None:
        """Sign in, take the study, open it and consent to it."""
        key = f"{self._plan.run_ref} {self.number}".encode()
        ref = hashlib.sha256(key).hexdigest()[:_ID_CHARS]
        self._request_site("POST", "/signin", {"participant_id": ref})
        self._agree(self._open_study())

    def take_part(self) -> None:
        """Answer everything; the study's server then completes the submission."""
        self._answer_everything()
        self._site.close()

    def _open_study(self) -> str:
        """Return the run's link as the platform fills it in for this participant."""
        study = self._plan.study
        name = (study.recruitment and study.recruitment.title) or study.study.title
        for study_entry in self._request_site("GET", "/studies").json()["studies"]:
            if study_entry["name"] == name:
                response = self._request_site("POST", f"/studies/{study_entry['study_id']}/take")
                redirect = self._request_site("POST", f"{response.headers['location']}/open")
                link = str(redirect.headers["location"])
                if urlsplit(link).path == f"/run/{self._plan.run_ref}":
                    return link
        raise self._make_not_listed_error()


class ScreenedOutSession(ParticipantSession):
    """A simulated participant who is not eligible for the study, and answers so."""

    def take_part(self) -> None:
        """Leave: the study's server reports the ending to the platform."""
        self._site.close()

    def _answer_before_start(self) -> None:
        answers = {
            question.name: _ineligible_answer(question) for question in self._plan.study.screening
        }
        form = {**self._open(self._home, "screening").hidden, **answers}
        self._request(303, "POST", f"{self._home}screening", form=form)


def _ineligible_answer(question: ScreeningQuestion) -> str:
    if question.type != "number":
        refused_options = (option for option in question.options if option not in question.accept)
        return next(refused_options, "no such element")
    if question.at_least is not None:
        return str(question.at_least - 1)
    return str((question.at_most or 0) + 1)
