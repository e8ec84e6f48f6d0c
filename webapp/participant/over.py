"""A session that has ended, opened again: by whom is not known, so it is shown for its code alone.

Several people may use one computer. Whoever opens a link of the run there again, or finds an
address in the list of visited pages, is not shown the person before.
"""

from flask import g, render_template, request
from sqlalchemy.orm import Session

from experiment.participation import Ending, State
from experiment.studies.study import Study
from webapp.database.models import Participant, Run
from webapp.participant.leaving import exit_of
from webapp.recruiters.endings import Exit
from webapp.sessions.leave import ending_of
from webapp.sessions.links import is_of_link

OVER = (State.FINISHED, State.LEFT, State.WITHDRAWN)
# What only a page of the run that is still open sends (navigation.js).
_WITHIN = "X-Parallax-Within"


def is_shut(participant: Participant, study: Study) -> bool:
    """Return whether an address shows nothing any more: a session that ended on a shared computer.

    The page that is open at the end still asks for what it shows; who knows the code may, too.
    """
    if not study.privacy.shared_device or participant.state not in OVER:
        return False
    return _WITHIN not in request.headers and g.get("by_code") is None


def finished_before(
    session: Session, run: Run, study: Study, participant: Participant, *, come: bool
) -> tuple[str, int]:
    """Return the page for whoever comes upon a session that has ended, with no word of it.

    Args:
        session: An open session.
        run: The run.
        study: Its study.
        participant: Whose session has ended.
        come: Whether they came by the run's link: whom a platform named there is told the way back
            to it.
    """
    named = come and not is_of_link(participant.platform_id)
    way_back: Exit | None = None
    if named:
        ending = ending_of(participant) or Ending.WITHDRAWN
        way_back = exit_of(session, run, study, participant, ending)
    others = participant.platform_id is None
    page = render_template("finished_before.html", study=study, exit=way_back, others=others)
    return page, 409 if come else 200
