"""Participants' rights: withdraw on every page, and see all stored data with their code.

The code also opens a page on which participants correct answers and restrict the use of their data.
Form fields on it that are not questions begin with an underscore, which no question's name does.
Participants whom the platform pays in another way submit their work on the compensation page.
"""

import json
from collections.abc import Mapping

from flask import Blueprint, Response, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from experiment.participation import Ending
from experiment.studies.question import LONGEST_TEXT
from experiment.studies.study import Study
from webapp.core.i18n import gettext
from webapp.database.engine import reading
from webapp.database.models import Participant, Run
from webapp.database.scrub import empty_log_soon
from webapp.errors import RequestError
from webapp.participant.data_notice import compose_consent_text
from webapp.participant.leaving import (
    ENDED_STATES,
    has_ended,
    is_hidden_on_shared_device,
    render_finished_session,
    report_ending,
)
from webapp.participant.lookup import requested_participant, requested_run
from webapp.participant.session import render_page
from webapp.privacy.amendments import (
    correct_answers,
    list_correctable_questions,
    load_answers,
    release_use,
    restrict_use,
)
from webapp.privacy.own_data import collect_own_data, find_participant_by_code
from webapp.recruiters.arrivals import Landing
from webapp.recruiters.endings import Departure
from webapp.services import current_services
from webapp.sessions.finish import form_texts
from webapp.sessions.leave import Wish, has_no_data, is_erased, withdraw

rights_pages = Blueprint("rights", __name__)
_WISHES = frozenset(wish.value for wish in Wish)


@rights_pages.get("/p/<token>/withdraw")
def ask(token: str) -> ResponseReturnValue:
    """Ask whether the answers are to be kept or erased; nothing is stored here."""
    services = current_services()
    with reading(services.sessions) as session:
        participant, run = requested_participant(session, token)
        study = services.study_of(session, run)
        if is_hidden_on_shared_device(participant, study):
            return render_finished_session(session, run, study, participant, by_run_link=False)
        home = url_for("session.show", token=token)
        if has_no_data(participant) or is_erased(session, participant):
            return redirect(home, 303)
        ended = has_ended(session, participant)
    return render_template("way_out_page.html", study=study, home=home, ended=ended)


@rights_pages.post("/p/<token>/withdraw")
def leave(token: str) -> ResponseReturnValue:
    """Carry out the participant's choice in one transaction, and show the result."""
    services = current_services()
    with services.sessions() as session:
        participant, run = requested_participant(session, token, writing=True)
        wish = _read_wish(participant)
        study = services.study_of(session, run)
        if is_hidden_on_shared_device(participant, study):
            return render_finished_session(session, run, study, participant, by_run_link=False)
        _carry_out_wish(session, run, study, participant, wish)
    if wish is Wish.ERASE:
        empty_log_soon(services.engine)
    return redirect(url_for("session.show", token=token), 303)


def _read_wish(participant: Participant) -> Wish:
    try:
        return Wish(request.form.get("wish", ""))
    except ValueError as error:
        # The pages after the end offer to erase the answers, and only that.
        can_choose = participant.state not in ENDED_STATES
        raise RequestError(
            gettext("Please go back and choose what happens to your answers.")
            if can_choose
            else gettext(
                "Nothing was erased. To have your answers erased, please go back and press the "
                "button."
            ),
            status=400,
            code="no_decision",
        ) from error


def _carry_out_wish(
    session: Session, run: Run, study: Study, participant: Participant, wish: Wish
) -> None:
    services, state_before = current_services(), participant.state
    withdraw(session, participant, wish, services.now(), services.record)
    if participant.state != state_before:
        report_ending(session, run, study, participant)
    session.commit()


@rights_pages.get("/run/<ref>/data")
def ask_code(ref: str) -> str:
    """Ask for the code that gives a participant access to their stored data."""
    with reading(current_services().sessions) as session:
        run = requested_run(session, ref)
        study = current_services().study_of(session, run)
    return render_template("own_data.html", study=study)


@rights_pages.post("/run/<ref>/data")
def send_data(ref: str) -> ResponseReturnValue:
    """Carry out the request of a participant identified by their code; the default sends data."""
    services, wish = current_services(), request.form.get("wish", "")
    amending = request.form.get(CODE) is not None and request.form.get(WISH) in CHANGES
    changing = amending or wish in _WISHES
    with services.sessions() if changing else reading(services.sessions) as session:
        run = requested_run(session, ref)
        study = services.study_of(session, run)
        code = request.form.get(CODE if amending else "code", "")
        participant = find_participant_by_code(session, run, code, for_update=changing)
        if participant is None:
            problem = gettext("We cannot find this code. Please check it and try again.")
            return render_template("own_data.html", study=study, problem=problem), 404
        if amending:
            return change_own_data(session, study, participant, form_texts(request.form))
        if wish == "look":
            return render_own_page(session, study, participant)
        if wish in ("", "download"):
            return _send_as_file(collect_own_data(session, run, study, participant))
        g.by_code = participant.code
        if wish == "stop" and not is_erased(session, participant):
            ended = has_ended(session, participant)
            return render_template("way_out_page.html", study=study, ended=ended)
        if changing:
            _carry_out_wish(session, run, study, participant, Wish(wish))
            empty_log_soon(services.engine)
        if participant.state in ENDED_STATES:
            return render_page(session, participant, run)
        token = services.tokens.issue(participant.ref)
    return redirect(url_for("session.show", token=token), 303)


def _send_as_file(data: Mapping[str, object]) -> Response:
    text = json.dumps(data, indent=2, ensure_ascii=False)
    headers = {"Content-Disposition": 'attachment; filename="your-data.json"'}
    return Response(text + "\n", mimetype="application/json", headers=headers)


@rights_pages.get("/run/<ref>/consent.txt")
def consent_text(ref: str) -> Response:
    """Send the consent text as a file to keep."""
    services = current_services()
    with reading(services.sessions) as session:
        run = requested_run(session, ref)
        study, collected = services.study_of(session, run), services.collected_of(session, run)
    is_known_to_platform = "platform" in request.args
    text = compose_consent_text(study, known_to_platform=is_known_to_platform, collected=collected)
    response = Response(text, mimetype="text/plain")
    name = f"consent-{study.name}.txt"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


compensation_page = Blueprint("compensation", __name__)


@compensation_page.get("/run/<ref>/compensation")
def show(ref: str) -> str:
    """Show the button that submits the work to the platform; nothing is stored here."""
    services = current_services()
    with reading(services.sessions) as session:
        run = requested_run(session, ref)
        study = services.study_of(session, run)
    recruiter = services.recruiter(run.recruiter)
    landing = Landing(request.args, study, lambda: request.url, services.now())
    accepted = recruiter.arrival(landing).acceptance
    form = None
    if accepted is not None:
        # The platform's own record of the submission is all that is needed here.
        departure = Departure(Ending.COMPLETED, study, acceptance=accepted, receipt="compensation")
        form = recruiter.exit(departure).form
    return render_template("compensation.html", study=study, form=form)


CODE, WISH = "_code", "_wish"
_CORRECT, _RESTRICT, _RELEASE = "correct", "restrict", "release"
CHANGES = (_CORRECT, _RESTRICT, _RELEASE)


def render_own_page(
    session: Session,
    study: Study,
    participant: Participant,
    *,
    given: Mapping[str, str] | None = None,
    problems: Mapping[str, str] | None = None,
    confirmation: str = "",
) -> str:
    """Return the page on which a participant corrects answers and restricts the use of their data.

    Args:
        session: An open session.
        study: The run's study.
        participant: The participant whose page it is.
        given: The submitted values if some are invalid; otherwise the stored values are shown.
        problems: The error messages by field name.
        confirmation: A sentence that confirms what was done.
    """
    return render_template(
        "own_page.html",
        study=study,
        code=participant.code,
        questions=list_correctable_questions(session, study, participant),
        given=load_answers(session, participant) if given is None else given,
        problems=problems or {},
        restricted=participant.restricted_at is not None,
        ended=has_ended(session, participant),
        erased=is_erased(session, participant),
        confirmation=confirmation,
        longest_text=LONGEST_TEXT,
    )


def change_own_data(
    session: Session, study: Study, participant: Participant, form: Mapping[str, str]
) -> tuple[str, int]:
    """Carry out the submitted change, and return the page with a confirmation and the status code.

    Args:
        session: An open session that holds the participant's lock; the change is committed.
        study: The run's study.
        participant: The participant who asks for the change.
        form: The submitted form.
    """
    services, wish, done = current_services(), form[WISH], ""
    now, record = services.now(), services.record
    if wish == _RESTRICT:
        restrict_use(session, participant, now, record)
    elif wish == _RELEASE:
        release_use(session, participant, now, record)
        done = gettext("Your data may be used again.")
    else:
        questions = list_correctable_questions(session, study, participant)
        if problems := correct_answers(session, participant, questions, form, now, record):
            session.rollback()
            return render_own_page(session, study, participant, given=form, problems=problems), 422
        done = gettext("Your corrections are stored.")
    session.commit()
    # Old values must not survive in the database's log.
    empty_log_soon(services.engine)
    return render_own_page(session, study, participant, confirmation=done), 200
