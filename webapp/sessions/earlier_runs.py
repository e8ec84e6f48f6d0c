"""Who took part in an earlier run of a study, where the study excludes them.

People are known by what their platform calls them, in whatever way they come: the same id in a
direct link is the same person. Whoever came without a name is not known again.
"""

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.participation import Ending, State
from experiment.studies.study import Study
from webapp.core.i18n import gettext
from webapp.database.models import Participant, Run
from webapp.sessions.consent import NoRoomError


class EarlierRunError(NoRoomError):
    """Somebody comes who took part in an earlier run of the study."""

    ending = Ending.DUPLICATE

    def __init__(self) -> None:
        super().__init__(
            gettext(
                "You have taken part in this study before. This time it is only for people who"
                " have not."
            ),
            status=409,
            code="earlier_run",
        )


class PartBeforeError(NoRoomError):
    """Somebody comes to a later part of a study who has not finished the part before."""

    ending = Ending.SCREENED_OUT

    def __init__(self) -> None:
        super().__init__(
            gettext("This part is for people who have finished the part before it."),
            status=409,
            code="part_before",
        )


def refuse_earlier(session: Session, run: Run, study: Study, platform_id: str | None) -> None:
    """Let pass whom the study's earlier runs do not exclude, and who finished the parts before.

    Runs of other projects do not count: what somebody took part in there is told to nobody here.
    Who was given trials took part, whatever became of them. Who is in this run already goes on.

    Args:
        session: An open session.
        run: The run they came to.
        study: Its study.
        platform_id: What the platform calls them; None where nothing is known.

    Raises:
        EarlierRunError: They took part in an earlier run.
        PartBeforeError: They have not finished a part before, or nobody knows who they are.
    """
    terms = study.recruitment
    if terms is None or not (terms.exclude_earlier_runs or terms.after):
        return
    if platform_id is None:
        if terms.after:
            raise PartBeforeError
        return
    theirs = (
        select(Participant.run_id, Participant.list)
        .join(Run, Run.id == Participant.run_id)
        .where(Participant.platform_id == platform_id)
        .where(Run.project_id.is_not_distinct_from(run.project_id))
        .where(Run.study == run.study, Run.id <= run.id, Run.simulated == run.simulated)
    )
    been = session.execute(theirs).all()
    if any(run_id == run.id for run_id, _ in been):
        return
    if terms.exclude_earlier_runs and any(list_ is not None for _, list_ in been):
        raise EarlierRunError
    finished = (
        select(Run.study)
        .join(Participant, Participant.run_id == Run.id)
        .where(Participant.platform_id == platform_id, Participant.state == State.FINISHED)
        .where(Run.project_id.is_not_distinct_from(run.project_id))
        .where(Run.study.in_(terms.after), Run.simulated == run.simulated)
    )
    if {*terms.after} - {*session.scalars(finished)}:
        raise PartBeforeError
