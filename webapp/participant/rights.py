"""What a person may ask for: the way out on every page, and by their code all that is stored.

The code also opens a page on which answers are corrected and their use is stopped. The fields of
its form that are not questions begin with an underscore, which no question's name does. A person
whom the platform pays in another way hands that work in on the compensation page.
"""

import json
from collections.abc import Mapping

from flask import Blueprint, Response, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from experiment.participation import Ending, State
from experiment.studies.question import LONGEST_TEXT
from experiment.studies.study import Study
from webapp.core.i18n import gettext
from webapp.database.engine import reading
from webapp.database.models import Participant, Run
from webapp.database.scrub import empty_log_soon
from webapp.errors import RequestError
from webapp.participant.data_notice import consent_text as text_of_consent
from webapp.participant.leaving import OVER, finished_before, is_shut, report_ending
from webapp.participant.lookup import requested_participant, requested_run
from webapp.participant.session import page_of
from webapp.privacy.amendments import answers_of, correct, correctable, release, restrict
from webapp.privacy.own_data import own_data, participant_of_code
from webapp.recruiters.arrivals import Landing
from webapp.recruiters.endings import Departure
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


compensation_page = Blueprint("compensation", __name__)


@compensation_page.get("/run/<ref>/compensation")
def show(ref: str) -> str:
    """Show the button that hands it in; nothing is stored here."""
    services = current_services()
    with reading(services.sessions) as session:
        run = requested_run(session, ref)
        study = services.study_of(session, run)
    recruiter = services.recruiter(run.recruiter)
    landing = Landing(request.args, study, request.url, services.now())
    accepted = recruiter.arrival(landing).acceptance
    form = None
    if accepted is not None:
        # The platform's own word on who submitted is all that is needed here.
        departure = Departure(Ending.COMPLETED, study, acceptance=accepted, receipt="compensation")
        form = recruiter.exit(departure).form
    return render_template("compensation.html", study=study, form=form)


CODE, WISH = "_code", "_wish"
_SAVE, _RESTRICT, _RELEASE = "correct", "restrict", "release"
CHANGES = (_SAVE, _RESTRICT, _RELEASE)


def own_page(
    session: Session,
    study: Study,
    participant: Participant,
    *,
    given: Mapping[str, str] | None = None,
    problems: Mapping[str, str] | None = None,
    told: str = "",
) -> str:
    """Return the page.

    Args:
        session: An open session.
        study: The run's study.
        participant: Whose page it is.
        given: What was typed where something of it must be mended; else what is stored is shown.
        problems: What is wrong with a field, by its name.
        told: What was done, in a sentence.
    """
    return render_template(
        "own_page.html",
        study=study,
        code=participant.code,
        questions=correctable(session, study, participant),
        given=answers_of(session, participant) if given is None else given,
        problems=problems or {},
        restricted=participant.restricted_at is not None,
        told=told,
        longest_text=LONGEST_TEXT,
    )


def changed(
    session: Session, study: Study, participant: Participant, form: Mapping[str, str]
) -> tuple[str, int]:
    """Do what the form of the page wishes, and return the page that says so.

    Args:
        session: An open session that holds the participant's lock; what is done is committed.
        study: The run's study.
        participant: Whose wish it is.
        form: What was sent.
    """
    services, wish, done = current_services(), form[WISH], ""
    now, record = services.now(), services.record
    if wish == _RESTRICT:
        restrict(session, participant, now, record)
    elif wish == _RELEASE:
        release(session, participant, now, record)
    else:
        questions = correctable(session, study, participant)
        if problems := correct(session, participant, questions, form, now, record):
            session.rollback()
            return own_page(session, study, participant, given=form, problems=problems), 422
        done = gettext("Your corrections are stored.")
    session.commit()
    # What was there before is not kept.
    empty_log_soon(services.engine)
    return own_page(session, study, participant, told=done), 200
