"""The run's public URL: the consent page and the decision."""

import re
from dataclasses import replace
from secrets import token_hex

from flask import Blueprint, current_app, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session
from structlog.contextvars import bind_contextvars

from experiment.studies.study import Study
from webapp.core.i18n import gettext
from webapp.core.tokens import new_reference
from webapp.database.engine import reading
from webapp.database.models import Link, Run
from webapp.database.retry import run_in_transaction
from webapp.database.scrub import empty_log_soon
from webapp.errors import RequestError, WebappError
from webapp.http.error_handlers import refusal_response
from webapp.participant.data_notice import (
    compose_consent_text,
    describe_device_data,
    describe_rights,
    list_responsible_parties,
    list_stored_data,
)
from webapp.participant.leaving import (
    ENDED_STATES,
    render_finished_session,
    render_invalid_link,
    render_refusal,
    report_ending,
)
from webapp.participant.lookup import requested_run
from webapp.participant.trial_page import (
    get_script_url,
    render_markdown,
    render_once,
    render_working_page,
)
from webapp.recruiters.arrivals import Arrival, ArrivalError, Landing
from webapp.recruiters.base import AskingRecruiter, PayingRecruiter
from webapp.recruitment.assignments import (
    UNCONFIRMED,
    accept_assignment,
    is_known_participant,
    refuse_other_offers,
    refuse_unconfirmed,
    resolve_participant,
)
from webapp.recruitment.links import LinkRequiredError, find_arrival_link
from webapp.services import current_services
from webapp.sessions.arrival_limits import TooManyArrivalsError, count_arrival
from webapp.sessions.consent import (
    Decision,
    NoRoomError,
    enroll,
    refuse_earlier_participants,
    refuse_newcomers,
)
from webapp.sessions.consent_texts import text_hash
from webapp.sessions.leave import RESUMABLE_STATES, Wish, withdraw
from webapp.sessions.link_visits import store_refused_link, store_visit
from webapp.sessions.lookup import find_person_of_link, find_run, is_of_link, link_person_id
from webapp.sessions.session_payload import make_preview
from webapp.sessions.waitlist import Sender

consent_pages = Blueprint("consent", __name__)

_MARK_PATTERN = re.compile(r"[a-z0-9]{12}", re.ASCII)
# Where each participant's mark goes in the rendered page; no study's text can contain it.
_MARK_PLACEHOLDER = f"mark-{token_hex(16)}"


@consent_pages.get("/run/<ref>")
def show(ref: str) -> ResponseReturnValue:
    """Show the consent page; nothing is stored before the participant decides."""
    services = current_services()
    with reading(services.sessions) as session:
        run = requested_run(session, ref)
        study = services.study_of(session, run)
        arrival, link = _read_arrival(session, run, study)
        if not arrival.preview:
            _refuse_other_offers(session, run, arrival)
        try:
            if arrival.acceptance is None:
                # For paid platform work, the platform is asked first, when the button is pressed.
                refuse_earlier_participants(session, run, study, arrival.platform_id)
            if not arrival.preview:
                _refuse_unknown_newcomers(session, run, arrival.platform_id)
        except NoRoomError as error:
            return render_refusal(run, study, arrival, error)
        # Whoever has a personal link or code of a finished session would agree in vain.
        person = find_person_of_link(session, run, link)
        if person is not None and person.state in ENDED_STATES:
            return render_finished_session(session, run, study, person, by_run_link=True)
    return _render_consent_page(study, arrival, visit=new_reference())


@consent_pages.post("/run/<ref>")
def decide(ref: str) -> ResponseReturnValue:
    """Store the decision and redirect to the participant's own URL; a preview stores nothing.

    The form is posted to the URL at which the page was opened, which keeps the link's parameters.
    """
    services = current_services()
    services.refusals.check(digest := services.sender(), now := services.now())
    confirmed = _ask_platform(ref)
    with services.sessions() as session:
        run = requested_run(session, ref)
        study = services.study_of(session, run)
        (arrival, link), decision = _read_arrival(session, run, study), _read_decision()
        if arrival.preview:
            return _show_preview(session, run, study, arrival, decision)
        _refuse_other_offers(session, run, arrival)
        refuse_unconfirmed(arrival, confirmed, is_second=False)
        text = _render_consent_text(study, arrival)
        if decision is Decision.ACCEPT and (again := _ask_again_if_needed(study, arrival, text)):
            return again, 409
        shown_session = _shown_session()
        known_participant, platform_id = resolve_participant(session, run, arrival, shown_session)
        is_second = known_participant is None and platform_id != arrival.platform_id
        refuse_unconfirmed(arrival, confirmed, is_second=is_second)
        sender = _find_sender(run, arrival, link, confirmed, digest)
        try:
            refuse_earlier_participants(session, run, study, arrival.platform_id)
            participant = known_participant or enroll(
                session,
                run,
                study,
                decision,
                now,
                platform_id=platform_id,
                visit_mark=_read_visit_mark(),
                link=link,
                text=text,
                sender=sender,
            )
        except NoRoomError as error:
            return render_refusal(run, study, arrival, error)
        had_ended = participant.state in ENDED_STATES
        count_arrival(session, participant, sender.digest, services.settings, now)
        # A participant who agreed earlier and now declines withdraws their consent.
        if erased := decision is Decision.DECLINE and participant.state in RESUMABLE_STATES:
            withdraw(session, participant, Wish.ERASE, now, services.record)
        store_visit(session, participant, _link_parameters(arrival, confirmed), now)
        if arrival.acceptance is not None and participant.consented_at is not None:
            at, worker_id = services.now(), arrival.platform_id
            accept_assignment(
                session, run, participant, arrival.acceptance, at, worker_id=worker_id
            )
        report_ending(session, run, study, participant)
        session.commit()
        if had_ended:
            # The button may have been pressed by another person at the same computer.
            return render_finished_session(session, run, study, participant, by_run_link=True)
    if erased:
        empty_log_soon(services.engine)
    bind_contextvars(participant=participant.ref)
    return redirect(url_for("session.show", token=services.tokens.issue(participant.ref)), 303)


@consent_pages.errorhandler(LinkRequiredError)
def ask_for_code(error: LinkRequiredError) -> ResponseReturnValue:
    """Ask a visitor who opened the run's URL without an access code to enter the code."""
    return render_template("access_code.html", text=error.problem), 403


@consent_pages.errorhandler(ArrivalError)
def report_invalid_link(error: ArrivalError) -> ResponseReturnValue:
    """Record an invalid link with its run, and show the visitor an error page."""
    services, ref = current_services(), (request.view_args or {})["ref"]
    value = request.args.get(error.parameter)
    at_fault = {} if value is None else {error.parameter: value}
    run_in_transaction(
        services.sessions,
        lambda session: store_refused_link(
            session, find_run(session, ref), error.code, at_fault, services.now()
        ),
    )
    # The value may identify a person, so only the parameter's name is logged.
    current_app.logger.warning(
        "a study link was put together wrongly: %s %s", error.code, error.parameter
    )
    if error.code == "unknown_link":
        # A code may be typed again.
        return render_template("access_code.html", text=error.problem), error.status
    with reading(services.sessions) as session:
        run = find_run(session, ref)
        return render_invalid_link(run, services.study_of(session, run), error)


@consent_pages.errorhandler(TooManyArrivalsError)
def refuse_crowd(error: TooManyArrivalsError) -> ResponseReturnValue:
    """Report too many arrivals from this address, and refuse further ones for some seconds."""
    services = current_services()
    services.refusals.note(services.sender(), services.now())
    return refusal_response(error)


def _refuse_unknown_newcomers(session: Session, run: Run, platform_id: str | None) -> None:
    """Raise an error if a new participant would not get a place; known ones may continue."""
    try:
        refuse_newcomers(session, run, current_services().now())
    except WebappError:
        if not is_known_participant(session, run, platform_id):
            raise


def _ask_platform(ref: str) -> bool | None:
    """Return whether the run's platform confirms this visitor; None if it does not answer.

    No database connection is open during the call.
    """
    services = current_services()
    recruiter = services.recruiter_of(ref, lambda session: requested_run(session, ref))
    if not isinstance(recruiter, AskingRecruiter):
        return True
    with reading(services.sessions) as session:
        run = requested_run(session, ref)
        arrival, _ = _read_arrival(session, run, services.study_of(session, run))
        if arrival.preview:
            return True
        _refuse_other_offers(session, run, arrival)
    return recruiter.confirms(arrival, services.now())


def _find_sender(
    run: Run, arrival: Arrival, link: Link | None, confirmed: bool | None, digest: str
) -> Sender:
    """Return the visitor's network address; empty if a platform or link vouches for them."""
    services = current_services()
    asks_platform = isinstance(services.recruiter(run.recruiter), AskingRecruiter)
    is_vouched_for = (
        arrival.proven or (asks_platform and confirmed) or link_person_id(link) is not None
    )
    return Sender("" if is_vouched_for else digest, services.settings.unanswered_places)


def _link_parameters(arrival: Arrival, confirmed: bool | None) -> dict[str, str]:
    """Return the link parameters to store, marked as unconfirmed unless the platform confirmed."""
    return {**arrival.parameters, **({} if confirmed else {UNCONFIRMED: "yes"})}


def _render_consent_text(study: Study, arrival: Arrival) -> str:
    is_known = not is_of_link(arrival.platform_id)
    return render_once(
        study,
        ("text", is_known),
        lambda: compose_consent_text(study, known_to_platform=is_known, collected=g.collected),
    )


def _render_consent_page(
    study: Study, arrival: Arrival, *, changed: bool = False, visit: str = ""
) -> str:
    """Return the consent page; only its mark differs between the participants of a run."""
    is_known = not is_of_link(arrival.platform_id)
    page = render_once(
        study,
        ("page", is_known, changed, arrival.preview, arrival.acceptable),
        lambda: render_template(
            "consent.html",
            study=study,
            changed=changed,
            text_hash=text_hash(_render_consent_text(study, arrival)),
            text=render_markdown(study.text("consent")),
            stored=list_stored_data(study, known_to_platform=is_known, collected=g.collected),
            on_device=describe_device_data(),
            rights=describe_rights(),
            answerable=list(list_responsible_parties(study)),
            known_to_platform=is_known,
            visit=_MARK_PLACEHOLDER,
            preview=arrival.preview,
            acceptable=arrival.acceptable,
            script=get_script_url(study),
        ),
    )
    return page.replace(_MARK_PLACEHOLDER, visit or new_reference())


def _show_preview(
    session: Session, run: Run, study: Study, arrival: Arrival, decision: Decision
) -> str:
    if decision is Decision.DECLINE:
        return _render_consent_page(study, arrival)
    list_ = request.args.get("list", default=0, type=int)
    levels = list_ if 0 <= list_ < study.design.n_lists else 0
    return render_working_page(study.of_list(levels), make_preview(session, run, study, levels))


def _read_arrival(session: Session, run: Run, study: Study) -> tuple[Arrival, Link | None]:
    services = current_services()
    g.collected = services.collected_of(session, run)
    landing = Landing(request.args, study, _requested_url, services.now())
    arrival = services.recruiter(run.recruiter).arrival(landing)
    if arrival.preview or arrival.link is None:
        return arrival, None
    needs_access_code = study.panel is not None and study.panel.access_codes
    link = find_arrival_link(session, run, arrival.link, required=needs_access_code)
    person = arrival.platform_id or link_person_id(link)
    return replace(arrival, platform_id=person), link


def _requested_url() -> str:
    """Return the request's URL without decoding it, because it may be signed."""
    query = request.query_string.decode("latin-1")
    return f"{request.base_url}?{query}" if query else request.base_url


def _read_decision() -> Decision:
    try:
        return Decision(request.form.get("decision", ""))
    except ValueError as error:
        raise RequestError(
            gettext("Please go back and choose whether you want to take part."),
            status=400,
            code="no_decision",
        ) from error


def _ask_again_if_needed(study: Study, arrival: Arrival, text: str) -> str:
    """Return the consent page again if its text changed or the device is not allowed; else ""."""
    if _shown_text_hash() not in ("", text_hash(text)):
        return _render_consent_page(study, arrival, changed=True)
    # The page sends its kind of device, and shows no button on a device that is not allowed.
    allowed = study.taking_part.devices
    is_refused = allowed and request.form.get("device", "") not in allowed
    return _render_consent_page(study, arrival) if is_refused else ""


def _refuse_other_offers(session: Session, run: Run, arrival: Arrival) -> None:
    if arrival.acceptance is not None and isinstance(
        current_services().recruiter(run.recruiter), PayingRecruiter
    ):
        refuse_other_offers(session, run, arrival.acceptance)


def _shown_text_hash() -> str:
    # The server's text may have changed since the page was opened.
    return request.form.get("text", "")


def _shown_session() -> str | None:
    # The browser stores the session it began, so a participant who returns under another assignment
    # can prove that the session is theirs.
    return current_services().tokens.read_known(request.form.get("session", ""))


def _read_visit_mark() -> str | None:
    # Each consent page has a random mark, so that pressing its button twice on a slow network
    # creates only one participant.
    mark = request.form.get("visit", "")
    return mark if _MARK_PATTERN.fullmatch(mark) else None
