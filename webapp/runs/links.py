"""Links and access codes of a run: making, listing with their participants, revoking."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.participation import State
from experiment.plugins import unknown_name
from webapp.core.tokens import ALPHABET, Tokens, new_reference
from webapp.database.models import Link, Participant, Place, Run
from webapp.errors import RunError
from webapp.sessions.lookup import CODE, MULTI, PARAMETER

# Guessing one of a thousand codes takes 850 million tries on average.
_CODE_LENGTH = 8
_MOST_AT_ONCE = 10_000
_UNFINISHED_STATES = (State.ARRIVED, State.WORKING, State.ANSWERED, State.ABANDONED)


@dataclass(frozen=True, slots=True)
class LinkWithArrivals:
    """A link and the participants who arrived by it.

    Attributes:
        link: The link.
        address: The link's address.
        came: The references of its participants, in the order of arrival.
    """

    link: Link
    address: str
    came: tuple[str, ...] = ()

    @property
    def code(self) -> str:
        """The access code in the form in which it is handed out; empty for links."""
        token = self.link.token
        return f"{token[:4]}-{token[4:]}" if self.link.kind == CODE else ""


def make_links(
    session: Session,
    run: Run,
    kind: str,
    labels: Sequence[str],
    lists: Sequence[int | None],
    now: datetime,
) -> list[Link]:
    """Make one link for each label and list, and return the links.

    Args:
        session: An open session that writes.
        run: The run to which the links lead.
        kind: ``multi``, ``single`` or ``code``.
        labels: The researcher's names for the links.
        lists: The list that every participant of a link gets; None for any.
        now: The time.

    Raises:
        RunError: The run has no such list, or too many links are requested at once.
    """
    if len(labels) * len(lists) > _MOST_AT_ONCE:
        raise RunError(
            f"{len(labels) * len(lists):,} links",
            expected=f"at most {_MOST_AT_ONCE:,}",
        )
    known_lists = set(session.scalars(select(Place.list).where(Place.run_id == run.id).distinct()))
    if missing := [number for number in lists if number is not None and number not in known_lists]:
        raise RunError(
            f"the run has no list {missing[0]}", expected=f"a list from 0 to {max(known_lists)}"
        )
    links = [
        Link(
            run_id=run.id,
            token=_make_token(kind),
            kind=kind,
            list=list_,
            label=label if list_ is None or len(lists) == 1 else f"{label} list {list_}".strip(),
            made_at=now,
        )
        for list_ in lists
        for label in labels
    ]
    session.add_all(links)
    session.flush()
    return links


def list_list_numbers(session: Session, run: Run) -> list[int]:
    """Return the numbers of a run's lists."""
    list_numbers = select(Place.list).where(Place.run_id == run.id).distinct().order_by(Place.list)
    return list(session.scalars(list_numbers))


def list_links(
    session: Session, run: Run, public_url: str, *, after: int = 0, most: int | None = None
) -> list[LinkWithArrivals]:
    """Return the run's valid links, with the participants who arrived by each.

    Args:
        session: A reading session.
        run: The run.
        public_url: The base address of links.
        after: How many to skip at the beginning.
        most: The maximum number to return; None for all.
    """
    good = select(Link).where(Link.run_id == run.id, Link.revoked_at.is_(None)).order_by(Link.id)
    links = list(session.scalars(good.offset(after).limit(most)))
    people = select(Participant.link_id, Participant.ref).where(Participant.run_id == run.id)
    people = people.where(
        Participant.link_id.is_not(None)
        if most is None
        else Participant.link_id.in_([link.id for link in links])
    )
    participants_by_link: dict[int | None, list[str]] = {}
    for link_id, ref in session.execute(people.order_by(Participant.id)):
        participants_by_link.setdefault(link_id, []).append(ref)
    return [
        LinkWithArrivals(
            link,
            make_link_address(link, run, public_url),
            tuple(participants_by_link.get(link.id, ())),
        )
        for link in links
    ]


def make_link_address(link: Link, run: Run, public_url: str) -> str:
    """Return a link's address; for a code this is the run's own address, where it is typed in."""
    address = f"{public_url}/run/{run.ref}"
    return address if link.kind == CODE else f"{address}?{PARAMETER}={link.token}"


def revoke_links(session: Session, run: Run, names: Sequence[str], now: datetime) -> int:
    """Close links, named by token, code or label, to new participants; return how many.

    Raises:
        UnknownNameError: A name is not a link of the run.
    """
    links = session.scalars(
        select(Link).where(Link.run_id == run.id, Link.revoked_at.is_(None))
    ).all()
    revoked = 0
    for name in names:
        token = name.replace("-", "").lower()
        matching_links = [link for link in links if token == link.token or name == link.label]
        if not matching_links:
            raise unknown_name("link", name, [link.label or link.token for link in links])
        for link in matching_links:
            link.revoked_at = now
            revoked += 1
    session.flush()
    return revoked


def find_unfinished_participants(
    session: Session, run: Run, who: Sequence[str]
) -> list[Participant]:
    """Return the named participants, or all who may still continue if no names are given.

    Args:
        session: A reading session.
        run: The run.
        who: References, participants' own codes, or link labels.

    Raises:
        UnknownNameError: A name matches no participant of the run.
    """
    of_run = (
        select(Participant, Link.label)
        .outerjoin(Link, Link.id == Participant.link_id)
        .where(Participant.run_id == run.id)
        .order_by(Participant.id)
    )
    people = session.execute(of_run).all()
    if not who:
        return [person for person, _ in people if person.state in _UNFINISHED_STATES]
    participants = []
    for name in who:
        matching = [
            person for person, label in people if name in (person.ref, person.code) or name == label
        ]
        if not matching:
            raise unknown_name("participant", name, [person.ref for person, _ in people])
        participants += matching
    return participants


def find_people_of_codes(
    session: Session, run: Run, codes: Iterable[str], tokens: Tokens
) -> list[tuple[str, Participant | None]]:
    """Return each completion code with the participant of the run it belongs to, or None.

    Args:
        session: A reading session.
        run: The run.
        codes: The codes that participants submitted.
        tokens: The decoder of the codes.
    """
    refs = [(code, tokens.read_receipt(code.strip())) for code in codes]
    has_ref = Participant.ref.in_({ref for _, ref in refs if ref is not None})
    participants = session.scalars(select(Participant).where(Participant.run_id == run.id, has_ref))
    people = {person.ref: person for person in participants}
    return [(code, people.get(ref or "")) for code, ref in refs]


def _make_token(kind: str) -> str:
    if kind != CODE:
        return new_reference()
    return "".join(secrets.choice(ALPHABET) for _ in range(_CODE_LENGTH))


def make_number_labels(kind: str, number: int) -> list[str]:
    """Return labels for links that have no names."""
    return [""] if kind == MULTI and number == 1 else [str(label) for label in range(1, number + 1)]
