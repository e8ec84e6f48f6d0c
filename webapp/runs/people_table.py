"""A run's participants, a page at a time, sorted and filtered, for any number of participants.

A page reads only the answers of its own participants. The sort keys are in the summaries;
participants without a summary come last, in order of arrival.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, UnaryExpression, exists, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from experiment.participation import State
from webapp.database.models import (
    Participant,
    Run,
    RunCount,
    RunSummary,
    SessionSummary,
    Tag,
    Verdict,
)
from webapp.database.row_counts import PARTICIPANTS, participants_in
from webapp.runs.people import ParticipantRow, list_people
from webapp.runs.runs import count_verdicts

PAGE_SIZE = 50
_Order = Sequence[ColumnElement[Any] | InstrumentedAttribute[Any]]
_SUMMARY = SessionSummary
# The sort keys that need a summary; arrival and list need none.
SUMMARY_SORTS: Mapping[str, _Order] = {
    "answered": (_SUMMARY.answered,),
    "time": (_SUMMARY.minutes,),
    "rt": (_SUMMARY.median_rt_ms,),
    "fast": (_SUMMARY.fast.desc(),),
    "side": (_SUMMARY.same_side.desc(),),
    "hidden": (_SUMMARY.hidden.desc(),),
    "waited": (_SUMMARY.waited_s.desc(),),
    # Among sessions with equally many flags, the most program-like comes first.
    "flags": (_SUMMARY.n_flags.desc(), _SUMMARY.likelihood.desc()),
    "events": (_SUMMARY.n_events.desc(),),
}


@dataclass(frozen=True, slots=True)
class PeopleFilter:
    """The filter and order of a request for a run's participants.

    Attributes:
        state: Only participants in this state; None for all.
        kept: Only participants whom a verdict keeps (True) or excludes (False); None for all.
        search: Only participants whose reference or own code begins with it.
        tag: Only participants with this tag; empty for all.
        sort: ``arrival``, ``list`` or a name in ``SUMMARY_SORTS``.
        page: The page, from 1.
    """

    state: State | None = None
    kept: bool | None = None
    search: str = ""
    tag: str = ""
    sort: str = "arrival"
    page: int = 1

    @property
    def is_filtered(self) -> bool:
        """Whether a filter is set."""
        return bool(self.state or self.search or self.tag) or self.kept is not None


@dataclass(frozen=True, slots=True)
class PeopleTable:
    """A page of participants.

    Attributes:
        people: At most ``PAGE_SIZE``.
        total: The number on all pages; None if counting would read all of them.
        more: Whether there is another page.
        summarised_at: The time at which the run's sessions were summarised; None before that.
    """

    people: Sequence[ParticipantRow]
    total: int | None
    more: bool
    summarised_at: datetime | None


def make_people_table(session: Session, run: Run, wanted: PeopleFilter) -> PeopleTable:
    """Return a page of a run's participants.

    Args:
        session: A reading session.
        run: The run.
        wanted: The filter and the order.
    """
    begin = (wanted.page - 1) * PAGE_SIZE
    # One extra row shows whether there is another page.
    ids = _list_ids(session, run, wanted, begin, PAGE_SIZE + 1)
    made_at = session.scalar(select(RunSummary.made_at).where(RunSummary.run_id == run.id))
    return PeopleTable(
        people=list_people(session, ids[:PAGE_SIZE]),
        total=_count_matches(
            session, run, wanted, begin + len(ids) if len(ids) <= PAGE_SIZE else None
        ),
        more=len(ids) > PAGE_SIZE,
        summarised_at=made_at,
    )


def _list_ids(session: Session, run: Run, wanted: PeopleFilter, begin: int, n: int) -> list[int]:
    everybody = _filter_people(select(Participant.id), wanted).where(Participant.run_id == run.id)
    order = SUMMARY_SORTS.get(wanted.sort)
    if order is None:
        by_list = (Participant.list,) if wanted.sort == "list" else ()
        return _slice_ids(session, everybody.order_by(*by_list, Participant.id), begin, n)
    of_theirs = SessionSummary.participant_id == Participant.id
    # The run is filtered in the summaries only, so that the database reads their index in order.
    summarised = select(SessionSummary.participant_id).where(SessionSummary.run_id == run.id)
    if wanted.is_filtered and _are_few(session, run, wanted, begin):
        # A sum keeps the database from looking the few up one by one and then sorting them.
        summarised = summarised.where((SessionSummary.participant_id + 0).in_(everybody))
    elif wanted.is_filtered:  # unfiltered: no rows to read
        summarised = _filter_people(summarised.join(Participant, of_theirs), wanted, indexed=False)
    # Ties follow the direction of the sort column, so that the index is read in one direction.
    last = SessionSummary.participant_id
    goes_down = isinstance(order[0], UnaryExpression)
    ids = _slice_ids(
        session, summarised.order_by(*order, last.desc() if goes_down else last), begin, n
    )
    if len(ids) == n or (ids and _count_matches(session, run, wanted, None) == begin + len(ids)):
        return ids
    before = begin + len(ids) if ids else _count_ids(session, summarised)
    without_summary = everybody.where(~select(SessionSummary).where(of_theirs).exists())
    further_ids = _slice_ids(
        session, without_summary.order_by(Participant.id), max(0, begin - before), n - len(ids)
    )
    return [*ids, *further_ids]


def _are_few(session: Session, run: Run, wanted: PeopleFilter, begin: int) -> bool:
    """Return whether finding all filtered participants is cheaper than scanning in sort order."""
    if wanted.search or wanted.tag:
        return True
    n_matching = everybody = _count_matches(session, run, PeopleFilter(), None) or 0
    if wanted.state is not None:
        n_matching = _count_matches(session, run, PeopleFilter(state=wanted.state), None) or 0
    if wanted.kept is not None:
        kept, excluded = count_verdicts(session, run)
        n_matching = min(n_matching, kept if wanted.kept else sum(excluded.values()))
    # Listing the filtered participants is cheap, and so is skipping others without a lookup. If
    # most participants pass the filter, the first pages are found faster by a scan.
    return 2 * n_matching < everybody or 10 * begin > everybody


def _filter_people(
    people: Select[int], wanted: PeopleFilter, *, indexed: bool = True
) -> Select[int]:
    if wanted.kept is not None:
        people = people.join(Verdict, Verdict.participant_id == Participant.id).where(
            Verdict.kept.is_(wanted.kept), Participant.restricted_at.is_(None)
        )
    if wanted.state is not None:
        # Otherwise SQLite would use the index of states and sort the result.
        state = Participant.state if indexed else Participant.state.concat("")
        people = people.where(state == wanted.state)
    if wanted.search:
        people = people.where(_match_beginning(wanted.search))
    if wanted.tag:
        has_tag = Tag.participant_id == Participant.id, Tag.name == wanted.tag
        people = people.where(exists().where(Tag.run_id == Participant.run_id, *has_tag))
    return people


def _match_beginning(search: str) -> ColumnElement[bool]:
    return or_(
        Participant.ref.startswith(search, autoescape=True),
        Participant.code.startswith(search, autoescape=True),
    )


def _slice_ids(session: Session, ids: Select[int], begin: int, n: int) -> list[int]:
    return list(session.scalars(ids.offset(begin).limit(n)))


def _count_ids(session: Session, ids: Select[int]) -> int:
    return session.scalar(select(func.count()).select_from(ids.subquery())) or 0


def _count_matches(
    session: Session, run: Run, wanted: PeopleFilter, seen: int | None
) -> int | None:
    """Return the number of matches, from the database's counters or from the last page."""
    if seen is not None:
        return seen
    if wanted.search or wanted.tag or wanted.kept is not None:
        return None
    count_query = select(func.sum(RunCount.n)).where(RunCount.run_id == run.id)
    subject = (
        RunCount.subject == participants_in(wanted.state)
        if wanted.state
        else RunCount.subject.startswith(PARTICIPANTS)
    )
    return session.scalar(count_query.where(subject)) or 0
