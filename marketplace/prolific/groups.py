"""Participant groups, and messages to participants."""

from sqlalchemy import select

from marketplace.prolific.errors import UnknownError
from marketplace.prolific.people import Group, Membership, Message
from marketplace.prolific.store import Moment


def find_group(moment: Moment, ref: str) -> Group:
    """Return a group.

    Raises:
        UnknownError: There is none of that identifier.
    """
    found = moment.session.scalar(select(Group).where(Group.ref == ref, Group.deleted.is_(False)))
    if found is None:
        raise UnknownError("participant group")
    return found


def members(moment: Moment, group: Group) -> list[Membership]:
    """Return who is in a group, in the order in which they came."""
    of = select(Membership).where(Membership.group_id == group.id).order_by(Membership.id)
    return list(moment.session.scalars(of))


def join(moment: Moment, group: Group, participant: str) -> None:
    """Put somebody into a group; who is in it already stays."""
    if participant not in {each.participant for each in members(moment, group)}:
        moment.session.add(Membership(group_id=group.id, participant=participant, since=moment.now))
        moment.session.flush()


def leave(moment: Moment, group: Group, participant: str) -> None:
    """Take somebody out of a group."""
    for each in members(moment, group):
        if each.participant == participant:
            moment.session.delete(each)
    moment.session.flush()


def write(moment: Moment, participant: str, study: str, body: str) -> None:
    """Send a participant a message."""
    moment.session.add(Message(recipient=participant, study=study, body=body, sent_at=moment.now))
