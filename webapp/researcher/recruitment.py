"""A run on its platform: progress of offers; pausing, extending, publishing, messages."""

from collections.abc import Callable
from datetime import timedelta
from itertools import chain

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from experiment import money
from experiment.errors import ParallaxError
from experiment.payment.cost import refuse_out_of_bounds
from webapp.database.engine import reading
from webapp.database.models import Run
from webapp.errors import RequestError
from webapp.gate.gate import refuse_if_blocked
from webapp.gate.installation import Operation
from webapp.recruiters.capabilities import Messages
from webapp.recruiters.platform import Platform
from webapp.recruiters.registry import open_platform
from webapp.recruitment.messages import Recipients, check_message, find_recipients, send_message
from webapp.recruitment.plan_cost import (
    compute_digest,
    list_audience_rows,
    list_cost_rows,
    read_limits,
    refuse_insufficient_balance,
    require_second_person,
)
from webapp.recruitment.poll import poll_run
from webapp.recruitment.progress import compute_progress, extend_run, load_hit_states, pause_run
from webapp.recruitment.publish import PublishPlan, carry_out_plan, draft_plan
from webapp.recruitment.published import find_recruitment
from webapp.recruitment.terms import refuse_other_owner, refuse_unpublishable
from webapp.researcher.access import (
    current_user,
    get_refusal_status,
    redirect_after_act,
    require_access,
)
from webapp.researcher.run_checks import check_first
from webapp.researcher.run_page import render_run_page
from webapp.researcher.template_globals import parse_whole_number
from webapp.runs.launch import check_responsible_people
from webapp.services import current_services
from webapp.sessions.lookup import find_run
from webapp.users.audit_log import record_act
from webapp.users.roles import Right

recruitment_pages = Blueprint("recruitment", __name__)
_MOST_HOURS = 24 * 365
_DIGITS = 6


def _check_may_publish(session: Session, _run: Run) -> None:
    refuse_if_blocked(Operation.PUBLISH, session.connection())


def _check_publishable(session: Session, run: Run) -> None:
    services = current_services()
    recruiter, publication = services.recruiter(run.recruiter), find_recruitment(session, run)
    endpoint = recruiter.endpoint if publication is None else publication.endpoint
    if endpoint:  # else only the platform's client knows it, and refuses later
        link = recruiter.invitation(services.settings.link_base, run.ref)
        refuse_unpublishable(run, endpoint, link, publication)
    _check_may_publish(session, run)


@recruitment_pages.post("/runs/<ref>/recruitment")
@require_access(Right.CONDUCT)
def show_offer_progress(ref: str) -> ResponseReturnValue:
    """Read the progress of the run's offers from the platform."""
    run, platform = _open_run_platform(ref)
    services = current_services()
    with reading(services.sessions) as session:
        study, published = services.study_of(session, run), find_recruitment(session, run)
    if published is None:
        return show_publish_plan(ref)
    poll_run(services.sessions, platform, ref, services.now())
    states = list(load_hit_states(services.sessions, platform, ref))
    progress = compute_progress(chain.from_iterable(platform.submissions(hit) for hit, _ in states))
    hourly_minor = progress.hourly_minor(study.reward_minor)
    return render_template(
        "researcher/recruitment.html",
        run=run,
        live=_read_live_option(),
        states=[(hit, state, state.is_open(services.now())) for hit, state in states],
        progress=progress,
        hourly=money.in_words(hourly_minor, study.currency) if hourly_minor is not None else None,
        writes=isinstance(platform, Messages),
        balance=money.in_words(platform.balance_minor(), platform.currency),
    )


@recruitment_pages.post("/runs/<ref>/recruitment/pause")
@require_access(Right.CONDUCT)
@check_first(_check_may_publish)
def pause_recruitment(ref: str) -> ResponseReturnValue:
    """Hide the run's offers from new participants; participants who have begun can finish."""
    sessions, now = current_services().sessions, current_services().now()
    return _change_offers(
        ref, "recruitment paused", lambda platform: pause_run(sessions, platform, ref, now), {}
    )


@recruitment_pages.post("/runs/<ref>/recruitment/extend")
@require_access(Right.CONDUCT)
@check_first(_check_may_publish)
def extend_recruitment(ref: str) -> ResponseReturnValue:
    """Keep the run's open offers available for more hours, counted from now."""
    hours = parse_whole_number(request.form.get("hours", ""), _DIGITS)
    if not 1 <= hours <= _MOST_HOURS:
        raise RequestError("The hours must be a whole number.", status=400, code="bad_hours")
    sessions, now = current_services().sessions, current_services().now()
    until = now + timedelta(hours=hours)
    return _change_offers(
        ref,
        "recruitment extended",
        lambda platform: extend_run(sessions, platform, ref, until, now),
        {"until": f"{until:%Y-%m-%d %H:%M} UTC"},
    )


@recruitment_pages.post("/runs/<ref>/recruitment/write")
@require_access(Right.CONDUCT)
@check_first(_check_may_publish)
def message_participants(ref: str) -> ResponseReturnValue:
    """Send a message to the run's participants on their platform, after a confirmation."""
    run, platform = _open_run_platform(ref)
    text = check_message(request.form.get("text", ""))
    try:
        whom = Recipients(request.form.get("whom", ""))
    except ValueError as error:
        problem = "The form does not say who gets the message."
        raise RequestError(problem, status=400, code="bad_whom") from error
    if not isinstance(platform, Messages):
        problem = "This platform cannot write to participants from here."
        raise RequestError(problem, status=400, code="no_messages")
    with reading(current_services().sessions) as session:
        by_offer = find_recipients(session, ref, whom)
    number = sum(map(len, by_offer.values()))
    # The user confirms the number of recipients; if it changed, the page is shown again.
    if request.form.get("agreed", "") != str(number):
        facts = {
            "run": run,
            "live": _read_live_option(),
            "whom": whom,
            "text": text,
            "number": number,
        }
        return render_template("researcher/write_confirm.html", **facts)
    _log_act(run, "participants written to", {"whom": whom, "participants": str(number)})
    send_message(platform, by_offer, text)
    return redirect_after_act("runs.show_run", ref=ref)


@recruitment_pages.post("/runs/<ref>/recruitment/plan")
@require_access(Right.PAY)
@check_first(_check_publishable)
def show_publish_plan(ref: str) -> str:
    """Show the cost of publishing the run's open places."""
    run, platform = _open_run_platform(ref)
    return _render_confirmation(run, platform, _draft_plan(run, platform))


@recruitment_pages.post("/runs/<ref>/recruitment/publish")
@require_access(Right.PAY)
@check_first(_check_publishable)
def publish_run(ref: str) -> ResponseReturnValue:
    """Publish the confirmed plan, if it is still the same."""
    run, platform = _open_run_platform(ref)
    plan, services = _draft_plan(run, platform), current_services()
    if compute_digest(plan, platform) != request.form.get("agreed", ""):
        return _render_confirmation(run, platform, plan, has_changed=True), 409
    refuse_insufficient_balance(plan, platform)
    user_name, now = current_user().name, services.now()
    require_second_person(services.sessions, plan, platform, by=user_name, now=now)
    _log_act(run, "run published", dict(list_cost_rows(plan, platform)))
    list(carry_out_plan(services.sessions, platform, plan, services.now))
    return redirect_after_act("runs.show_run", ref=ref)


@recruitment_pages.errorhandler(ParallaxError)
def show_error(error: ParallaxError) -> ResponseReturnValue:
    """Show the error's message on the run's own page."""
    page = render_run_page((request.view_args or {})["ref"], problem=str(error))
    return page, get_refusal_status(error)


def _open_run_platform(ref: str) -> tuple[Run, Platform]:
    services = current_services()
    with reading(services.sessions) as session:
        run = find_run(session, ref)
        recruitment = find_recruitment(session, run)
    platform = open_platform(run.recruiter, services.settings, live=bool(_read_live_option()))
    refuse_other_owner(run, recruitment, platform)
    return run, platform


def _read_live_option() -> str:
    return request.form.get("live", "")


def _draft_plan(run: Run, platform: Platform) -> PublishPlan:
    services = current_services()
    link = services.recruiter(run.recruiter).invitation(services.settings.link_base, run.ref)
    drafted = draft_plan(services.sessions, platform, run.ref, link, services.now())
    if _read_live_option():
        check_responsible_people(drafted.study)
    limits = read_limits(services.settings, drafted.study.currency)
    screen_outs = drafted.cost.screen_outs
    refuse_out_of_bounds(drafted.study, drafted.unfilled, limits, screen_outs=screen_outs)
    return drafted


def _render_confirmation(
    run: Run, platform: Platform, drafted: PublishPlan, *, has_changed: bool = False
) -> str:
    rows = (*list_cost_rows(drafted, platform), *list_audience_rows(drafted, platform))
    return render_template(
        "researcher/publish_confirm.html",
        run=run,
        endpoint=platform.endpoint,
        rows=rows,
        is_empty=drafted.is_empty,
        total=money.in_words(drafted.cost.total_minor, drafted.cost.currency),
        agreed=compute_digest(drafted, platform),
        live=_read_live_option(),
        has_changed=has_changed,
    )


def _change_offers(
    ref: str, act: str, move: Callable[[Platform], int], details: dict[str, str]
) -> ResponseReturnValue:
    run, platform = _open_run_platform(ref)
    moved_offers = move(platform)
    _log_act(run, act, {"offers": str(moved_offers), **details})
    return redirect_after_act("runs.show_run", ref=ref)


def _log_act(run: Run, act: str, details: dict[str, str]) -> None:
    services = current_services()
    with services.sessions.begin() as session:
        record_act(
            session, current_user().name, act, services.now(), run_ref=run.ref, after=details
        )
