"""The working page: instructions, practice and trials in one."""

from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import cast

from flask import current_app, render_template

from experiment.records import SIDES, Side
from experiment.responses.base import ResponseType
from experiment.responses.registry import response_of
from experiment.studies.files import FONT_SUFFIX
from experiment.studies.question import LONGEST_TEXT
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
    response, address = response_of(study), assets_of(current_app).address
    return render_template(
        "working.html",
        study=study,
        script=trial_script(study),
        instructions=as_html(study.text("instructions")),
        response=response,
        work=with_scripts(work, response, address),
        invitation=invitation,
        lease_minutes=lease_minutes,
        longest_text=LONGEST_TEXT,
        font="" if study.trial.font == "system" else study.trial.font,
        font_src=_own_font(study),
        pages={position: as_html(study.text(name)) for position, name in work["pages"].items()},
        sides=_sides(work["keys"]),
        task_sides={name: _sides(task["keys"]) for name, task in work.get("tasks", {}).items()},
    )


def _own_font(study: Study) -> str:
    """Return the address that holds a study's own font; empty where it has none."""
    name = study.trial.font
    if not name.endswith(FONT_SUFFIX):
        return ""
    return f"data:font/woff2;base64,{b64encode(study.read_bytes(name)).decode()}"


def _sides(keys: Sequence[str]) -> list[tuple[Side, str]]:
    return list(zip(SIDES, keys, strict=False))


def with_scripts(work: Work, response: ResponseType, address: Callable[[str], str]) -> Work:
    """Return a session whose tasks, if it has several, say where their scripts are.

    Args:
        work: The session.
        response: What its trials ask for.
        address: From a script's name on the wire to where it is.
    """
    if "tasks" not in work:
        return work
    scripts = {task: address(script_name(one.script)) for task, one in response.types.items()}
    tasks = {task: {**own, "script": scripts[task]} for task, own in work["tasks"].items()}
    return cast(Work, {**work, "tasks": tasks})


def trial_script(study: Study) -> str:
    """Return the address of the script of the study's type of response."""
    return assets_of(current_app).address(script_name(response_of(study).script))
