"""The recipients of a message to a run's participants."""

from collections import defaultdict
from enum import StrEnum

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.participation import State
from webapp.database.models import Assignment, Hit, Participant
from webapp.errors import RunError
from webapp.recruiters.capabilities import Messages
from webapp.runs.runs import find_named_run

_LONGEST_CHARS = 4000


class Recipients(StrEnum):
    """A selection of participants."""

    FINISHED = "finished"
    UNFINISHED = "unfinished"
    EVERYBODY = "everybody"


def find_recipients(session: Session, run_ref: str, whom: Recipients) -> dict[str, list[str]]:
    """Return the recipients' ids on the recruiting platform, by the offer each accepted.

    Participants who withdrew or asked for erasure are never included.
    """
    run = find_named_run(session, run_ref)
    rows = session.execute(
        select(Hit.platform_id, Assignment.worker_id, Participant.state)
        .select_from(Assignment)
        .join(Hit, Hit.id == Assignment.hit_id)
        .join(Participant, Participant.id == Assignment.participant_id)
        .where(Assignment.run_id == run.id, ~Assignment.worker_id.is_stand_in())
        .where(Participant.state != State.WITHDRAWN)
        .order_by(Assignment.id)
    ).all()
    workers_by_offer = defaultdict[str, list[str]](list)
    for offer, worker, state in rows:
        finished = state == State.FINISHED
        is_recipient = whom is Recipients.EVERYBODY or finished is (whom is Recipients.FINISHED)
        if is_recipient and offer and worker not in workers_by_offer[offer]:
            workers_by_offer[offer].append(worker)
    return {offer: workers for offer, workers in workers_by_offer.items() if workers}


def check_message(text: str) -> str:
    """Return a message that can be sent.

    Raises:
        RunError: The message is empty or too long.
    """
    if not text.strip() or len(text) > _LONGEST_CHARS:
        raise RunError(
            f"the message has {len(text.strip())} characters",
            where="the message",
            expected=f"between 1 and {_LONGEST_CHARS}",
            remedy="Nothing was sent",
        )
    return text


def send_message(platform: Messages, by_offer: dict[str, list[str]], text: str) -> int:
    """Send a message to participants about the offers that they took, and return how many."""
    for offer, workers in by_offer.items():
        platform.write(offer, workers, text)
    return sum(map(len, by_offer.values()))
