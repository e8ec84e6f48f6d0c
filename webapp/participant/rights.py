"""What a person may ask for: on every page the way out, and by their code all that is stored."""

import json
from collections.abc import Mapping

from flask import Blueprint, Response, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from experiment.participation import State
from experiment.studies.study import Study
from webapp.core.i18n import gettext
from webapp.database.engine import reading
from webapp.database.models import Participant, Run
from webapp.database.scrub import empty_log_soon
from webapp.errors import RequestError
from webapp.participant.data_notice import consent_text as text_of_consent
from webapp.participant.leaving import report_ending
from webapp.participant.lookup import requested_participant, requested_run
from webapp.participant.over import OVER, finished_before, is_shut
from webapp.participant.own_page import CHANGES, CODE, WISH, changed, own_page
from webapp.participant.session import page_of
from webapp.privacy.own_data import own_data, participant_of_code
from webapp.services import current_services
from webapp.sessions.finish import form_texts
from webapp.sessions.withdraw import Wish, withdraw

rights_pages = Blueprint("rights", __name__)
_WISHES = frozenset(wish.value for wish in Wish)


@rights_pages.get("/p/<token>/withdraw")
def ask(token: str) -> ResponseReturnValue:
    """Ask what becomes of what was given; nothing is stored here."""
    services = current_services()
    with reading(services.sessions) as session:
        participant, run = requested_participant(session, token)
        study = services.study_of(session, run)
        finished = participant.state == State.FINISHED
        if is_shut(participant, study):
            return finished_before(session, run, study, participant, come=False)
    home = url_for("session.show", token=token)
    return render_template("way_out_page.html", study=study, home=home, finished=finished)


@rights_pages.post("/p/<token>/withdraw")
def leave(token: str) -> ResponseReturnValue:
    """Carry out the wish, in one transaction, and show that it is done."""
    services, wish = current_services(), _wish()
    with services.sessions() as session:
        participant, run = requested_participant(session, token, writing=True)
        study = services.study_of(session, run)
        if is_shut(participant, study):
            return finished_before(session, run, study, participant, come=False)
        _carry_out(session, run, study, participant, wish)
    if wish is Wish.ERASE:
        empty_log_soon(services.engine)
    return redirect(url_for("session.show", token=token), 303)


def _wish() -> Wish:
    try:
        return Wish(request.form.get("wish", ""))
    except ValueError as error:
        raise RequestError(
            gettext("Please go back and choose what happens to your answers."),
            status=400,
            code="no_decision",
        ) from error


def _carry_out(
    session: Session, run: Run, study: Study, participant: Participant, wish: Wish
) -> None:
    services, before = current_services(), participant.state
    withdraw(session, participant, wish, services.now(), services.record)
    if participant.state != before:
        report_ending(session, run, study, participant)
    session.commit()


@rights_pages.get("/run/<ref>/data")
def ask_code(ref: str) -> str:
    """Ask for the code with which somebody gets what is stored of them."""
    with reading(current_services().sessions) as session:
        run = requested_run(session, ref)
        study = current_services().study_of(session, run)
    return render_template("own_data.html", study=study)


@rights_pages.post("/run/<ref>/data")
def send_data(ref: str) -> ResponseReturnValue:
    """Do what the participant who was shown the code wishes: by default, send what is stored."""
    services, wish = current_services(), request.form.get("wish", "")
    amending = request.form.get(CODE) is not None and request.form.get(WISH) in CHANGES
    changing = amending or wish in _WISHES
    with services.sessions() if changing else reading(services.sessions) as session:
        run = requested_run(session, ref)
        study = services.study_of(session, run)
        code = request.form.get(CODE if amending else "code", "")
        participant = participant_of_code(session, run, code, writing=changing)
        if participant is None:
            problem = gettext("Nobody in this study was shown this code.")
            return render_template("own_data.html", study=study, problem=problem), 404
        if amending:
            return changed(session, study, participant, form_texts(request.form))
        if wish == "look":
            return own_page(session, study, participant)
        if wish in ("", "download"):
            return _as_file(own_data(session, run, study, participant))
        g.by_code = participant.code
        if wish == "stop":
            finished = participant.state == State.FINISHED
            return render_template("way_out_page.html", study=study, finished=finished)
        if changing:
            _carry_out(session, run, study, participant, Wish(wish))
            empty_log_soon(services.engine)
        if participant.state in OVER:
            return page_of(session, participant, run)
        token = services.tokens.issue(participant.ref)
    return redirect(url_for("session.show", token=token), 303)


def _as_file(data: Mapping[str, object]) -> Response:
    text = json.dumps(data, indent=2, ensure_ascii=False)
    headers = {"Content-Disposition": 'attachment; filename="your-data.json"'}
    return Response(text + "\n", mimetype="application/json", headers=headers)


@rights_pages.get("/run/<ref>/consent.txt")
def consent_text(ref: str) -> Response:
    """Send the consent text as a file to keep."""
    services = current_services()
    with reading(services.sessions) as session:
        run = requested_run(session, ref)
        study = services.study_of(session, run)
    text = text_of_consent(study, known_to_platform="platform" in request.args)
    response = Response(text, mimetype="text/plain")
    name = f"consent-{study.name}.txt"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
