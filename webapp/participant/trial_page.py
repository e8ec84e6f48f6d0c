"""The working page: instructions, practice and trials in one."""

from flask import current_app, render_template

from experiment.records import SIDES
from experiment.responses.registry import response_of
from experiment.studies.answers import LONGEST_TEXT
from experiment.studies.study import Study
from webapp.participant.assets import assets_of
from webapp.participant.markdown import as_html
from webapp.participant.response_files import script_name
from webapp.sessions.session_payload import Work


def working_page(study: Study, work: Work, *, invitation: str = "", lease_minutes: int = 0) -> str:
    """Return the page on which a participant works, or somebody only looks.

    Args:
        study: The study.
        work: What they work on.
        invitation: Where somebody else would begin; empty where no address is for everybody.
        lease_minutes: For how long a silent participant keeps the place; 0 where nobody has one.
    """
    return render_template(
        "working.html",
        study=study,
        script=trial_script(study),
        instructions=as_html(study.text("instructions")),
        response=response_of(study),
        work=work,
        invitation=invitation,
        lease_minutes=lease_minutes,
        longest_text=LONGEST_TEXT,
        pages={position: as_html(study.text(name)) for position, name in work["pages"].items()},
        sides=list(zip(SIDES, work["keys"], strict=False)),
    )


def trial_script(study: Study) -> str:
    """Return the address of the script of the study's type of response."""
    return assets_of(current_app).address(script_name(response_of(study).script))
