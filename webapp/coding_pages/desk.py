"""The researcher's page of a run's coding: links of the coders, progress, frozen versions.

It shows numbers and no answer, so that it is open while the run is blind.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as Reply

from experiment.coding.categories import Coding, TrainingAnswer
from experiment.coding.rounds import Codes, Round
from experiment.errors import ParallaxError
from webapp.codes.answers import list_answers
from webapp.codes.codes import (
    LONGEST_LABEL,
    add_coder,
    check_complete_run,
    collect_codes,
    end_coder,
    find_frozen,
    freeze,
    list_coders,
    needs_coder,
    read_codes,
)
from webapp.core.addresses import CODER_PATH
from webapp.database.engine import reading
from webapp.database.models import Participant, Response, Run, RunItem, Trial
from webapp.database.models.run import Coder
from webapp.database.retry import run_in_transaction
from webapp.errors import RunError
from webapp.researcher.access import current_user, require_access
from webapp.researcher.run_checks import check_first
from webapp.runs.export_queries import select_answered_trials
from webapp.services import current_services
from webapp.sessions.lookup import find_run
from webapp.users.audit_log import record_act
from webapp.users.roles import Right

coding_pages = Blueprint("coding", __name__, template_folder="templates")

_TASKS = {
    "code": "codes the answers",
    "decide": "decides where the two coders disagree",
}


@dataclass(frozen=True, slots=True)
class CoderProgress:
    """A coder's progress.

    Attributes:
        coder: The coder.
        address: The link.
        n_coded: How many answers they have coded, or disagreements decided.
        n_right: How many training answers they coded as the study does.
        n_trained: How many training answers they coded.
        n_same: How many answers they coded equally twice.
        n_twice: How many answers they coded twice.
    """

    coder: Coder
    address: str
    n_coded: int
    n_right: int
    n_trained: int
    n_same: int
    n_twice: int


def has_coding(run: Run) -> bool:
    """Return whether a run's study declares categories of typed answers."""
    services = current_services()
    with reading(services.sessions) as session:
        return services.study_of(session, run).coding is not None


@coding_pages.get("/runs/<ref>/coding")
@require_access(Right.CONDUCT)
def show_coding(ref: str) -> str:
    """Show the coders' links, how far they are, and the frozen versions."""
    return _render_page(ref)


@coding_pages.post("/runs/<ref>/coding/coders")
@require_access(Right.CONDUCT)
def make_coder_link(ref: str) -> Reply:
    """Make a link for a coder, or for the person who decides disagreements."""
    label, decides = request.form.get("label", ""), request.form.get("task", "") == "decide"

    def work(session: Session) -> None:
        run, now = find_run(session, ref), current_services().now()
        _get_coding(session, run)
        add_coder(session, run, label, decides=decides, now=now)
        _log_act(session, run, "coder's link made", task="decide" if decides else "code")

    return _change(ref, work)


@coding_pages.post("/runs/<ref>/coding/end")
@require_access(Right.CONDUCT)
def end_coder_link(ref: str) -> Reply:
    """End a coder's link, so that the codes made by it no longer count."""

    def work(session: Session) -> None:
        run = find_run(session, ref)
        end_coder(session, run, request.form.get("coder", ""), current_services().now())
        _log_act(session, run, "coder's link ended")

    return _change(ref, work)


def _check_complete(session: Session, run: Run) -> None:
    check_complete_run(run, _collect(session, run, _get_coding(session, run)))


@coding_pages.post("/runs/<ref>/coding/freeze")
@require_access(Right.CONDUCT)
@check_first(_check_complete)
def freeze_codes(ref: str) -> Reply:
    """Freeze the codes as the next version."""

    def work(session: Session) -> None:
        run, services = find_run(session, ref), current_services()
        codes = _collect(session, run, _get_coding(session, run))
        frozen = freeze(session, run, codes, by=current_user().name, now=services.now())
        _log_act(session, run, "codes frozen", version=str(frozen.number))

    return _change(ref, work)


@coding_pages.errorhandler(ParallaxError)
def show_error(error: ParallaxError) -> ResponseReturnValue:
    """Show the error's message on the page of the coding."""
    return _render_page((request.view_args or {})["ref"], problem=str(error)), 409


def _change(ref: str, work: Callable[[Session], None]) -> Reply:
    run_in_transaction(current_services().sessions, work)
    return redirect(url_for("coding.show_coding", ref=ref), 303)


def _collect(session: Session, run: Run, coding: Coding) -> Mapping[str, Codes]:
    study = current_services().study_of(session, run)
    query = select_answered_trials(run, Participant.ref, Trial, RunItem.item, Response)
    answers = list_answers(session, run, study, query)
    return collect_codes(session, run, coding, answers.values())


def _get_coding(session: Session, run: Run) -> Coding:
    coding = current_services().study_of(session, run).coding
    if coding is None:
        raise RunError(
            "the study declares no categories, so its answers cannot be coded",
            where=f"run {run.ref}",
            expected="categories, which a study declares before its launch",
        )
    return coding


def _render_page(ref: str, *, problem: str = "") -> str:
    services = current_services()
    with reading(services.sessions) as session:
        run = find_run(session, ref)
        coding = services.study_of(session, run).coding
        codes = _collect(session, run, coding) if coding else {}
        coders = [
            _measure_progress(session, coder, place, codes, coding.training if coding else ())
            for place, coder in enumerate(list_coders(session, run))
        ]
        frozen = find_frozen(session, run)
        tasks = {
            name: text
            for name, text in _TASKS.items()
            if needs_coder(session, run, decides=name == "decide")
        }
    by_people = [code for code in codes.values() if not code.listed]
    return render_template(
        "coding/desk.html",
        run=run,
        coding=coding,
        coders=coders,
        frozen=frozen,
        tasks=tasks,
        n_answers=len(by_people),
        n_listed=len(codes) - len(by_people),
        n_both=sum(bool(code.first and code.second) for code in by_people),
        n_disputed=sum(code.is_disputed for code in by_people),
        n_undecided=sum(code.is_disputed and not code.decided for code in by_people),
        longest_label=LONGEST_LABEL,
        problem=problem,
    )


def _measure_progress(
    session: Session,
    coder: Coder,
    place: int,
    codes: Mapping[str, Codes],
    training: Sequence[TrainingAnswer],
) -> CoderProgress:
    once, again = _get_own_codes(coder, place, codes)
    own = read_codes(session, coder)
    trained = [
        own[Round.TRAINING, str(number)] == example.category
        for number, example in enumerate(training, start=1)
        if (Round.TRAINING, str(number)) in own
    ]
    twice = [a == b for a, b in zip(once, again, strict=True) if a and b]
    address = f"{current_services().settings.link_base}{CODER_PATH}/{coder.token}"
    return CoderProgress(
        coder, address, sum(map(bool, once)), sum(trained), len(trained), sum(twice), len(twice)
    )


def _get_own_codes(
    coder: Coder, place: int, codes: Mapping[str, Codes]
) -> tuple[Sequence[str], Sequence[str]]:
    """Return a coder's categories of all answers at the first and at the second time."""
    by_people = [code for code in codes.values() if not code.listed]
    if coder.decides:
        decided = [code.decided if code.is_disputed else "" for code in by_people]
        return decided, [""] * len(decided)
    if place == 0:
        return [code.first for code in by_people], [code.first_again for code in by_people]
    return [code.second for code in by_people], [code.second_again for code in by_people]


def _log_act(session: Session, run: Run, act: str, **after: str) -> None:
    user_name, now = current_user().name, current_services().now()
    record_act(session, user_name, act, now, run_ref=run.ref, after=after)
