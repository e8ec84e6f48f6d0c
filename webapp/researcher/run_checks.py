"""Acts that the state of a run rules out: they are refused, and the pages disable their buttons.

The check that refuses an act is the one that a page asks before it shows the act's button.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from flask import current_app
from sqlalchemy.orm import Session

from experiment.errors import ParallaxError
from webapp.database.engine import reading
from webapp.database.models import Run
from webapp.gate.gate import refuse_if_blocked
from webapp.gate.installation import Operation
from webapp.services import current_services
from webapp.sessions.lookup import find_run

# Raises a ParallaxError if the run's state rules the act out. It only reads.
RunCheck = Callable[[Session, Run], object]
View = TypeVar("View", bound=Callable[..., Any])


def check_first(check: RunCheck) -> Callable[[View], View]:
    """Declare the check that precedes a view's act; the access check of its blueprint runs it."""

    def mark(view: View) -> View:
        view.run_check = check  # type: ignore[attr-defined]
        return view

    return mark


def refuse_impossible_act(endpoint: str, ref: str) -> None:
    """Run the check that precedes a view's act, if there is one.

    Raises:
        ParallaxError: The run's state rules the act out.
    """
    check = _get_check(endpoint)
    if check is not None:
        with reading(current_services().sessions) as session:
            check(session, find_run(session, ref))


def why_not(endpoint: str, run: Run) -> str:
    """Return in a sentence why a run's state rules out an act; empty if it does not."""
    return describe_refusal(lambda: refuse_impossible_act(endpoint, run.ref))


def describe_refusal(check: Callable[[], object]) -> str:
    """Return in a sentence why a check refuses; empty if it does not."""
    try:
        check()
    except ParallaxError as error:
        sentence = f"{error.problem[:1].upper()}{error.problem[1:]}"
        return sentence if sentence.endswith(".") else f"{sentence}."
    return ""


def check_may_pay(session: Session, _run: Run) -> None:
    """Check that this installation may pay now."""
    refuse_if_blocked(Operation.PAY, session.connection())


def _get_check(endpoint: str) -> RunCheck | None:
    check: RunCheck | None = getattr(current_app.view_functions[endpoint], "run_check", None)
    return check
