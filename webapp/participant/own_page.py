"""What is stored about somebody as a page, on which they correct it or stop its use.

It is reached by the person's code alone. The fields of its form that are not questions begin with
an underscore, which no question's name does.
"""

from collections.abc import Mapping

from flask import render_template
from sqlalchemy.orm import Session

from experiment.studies.question import LONGEST_TEXT
from experiment.studies.study import Study
from webapp.core.i18n import gettext
from webapp.database.models import Participant
from webapp.database.scrub import empty_log_soon
from webapp.privacy.amendments import answers_of, correct, correctable, release, restrict
from webapp.services import current_services

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
    services, wish, told = current_services(), form[WISH], ""
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
        told = gettext("Your corrections are stored.")
    session.commit()
    # What was there before is not kept.
    empty_log_soon(services.engine)
    return own_page(session, study, participant, told=told), 200
