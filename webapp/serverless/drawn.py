"""Draw the sessions of a folder in advance, identical to those that a server would assign."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.design.session import compose, session_number
from experiment.materials.item_rows import item_from_row
from experiment.records import Kind, ListEntry
from experiment.responses.registry import response_of
from experiment.studies.study import Study
from webapp.database.models import Run, RunItem
from webapp.sessions.session_payload import Work, compose_work


class DrawnSession(NamedTuple):
    """A session that waits for the participant who draws its number.

    Attributes:
        number: Its number in the folder, from 1.
        list: Its list.
        place: Its place (participant slot) within the list.
        work: The data of the working page.
    """

    number: int
    list: int
    place: int
    work: Work


def list_session_places(study: Study, sessions: int) -> list[tuple[int, int]]:
    """Return the list and the place of each session, in the order of their numbers.

    The order is that in which a server fills its lists: each list's first place, then the second.
    """
    lists = range(study.design.n_lists)
    per_list = -(-sessions // len(lists))
    return [(list_, place) for place in range(per_list) for list_ in lists][:sessions]


def get_session_number(study: Study, list_: int, place: int) -> int:
    """Return the session number that determines the order of a session's trials."""
    return session_number(study.design, list_, place)


def draw_sessions(
    session: Session, run: Run, study: Study, sessions: int
) -> Iterator[DrawnSession]:
    """Yield every session of a folder, in the order of their numbers."""
    lists = _load_lists(session, run)
    response = response_of(study)
    for number, (list_, place) in enumerate(list_session_places(study, sessions), start=1):
        entries = lists[list_]
        trials = compose(
            entries,
            seed=run.seed,
            list_=list_,
            place=place,
            number=get_session_number(study, list_, place),
            design=study.design,
            response=response,
        )
        items = {entry.item.item_id: entry.item for entry in entries}
        yield DrawnSession(number, list_, place, compose_work(study, items, trials))


def hash_folder(files: Mapping[str, bytes], seed: int, sessions: list[DrawnSession]) -> str:
    """Return a hash of a folder's materials, texts, seed and sessions."""
    digest = hashlib.sha256(f"{seed}".encode())
    for name, content in sorted(files.items()):
        digest.update(f"\0{name}\0{len(content)}\0".encode() + content)
    digest.update(json.dumps([session.work for session in sessions], sort_keys=True).encode())
    return digest.hexdigest()[:16]


def _load_lists(session: Session, run: Run) -> dict[int, list[ListEntry]]:
    rows = session.execute(
        select(RunItem.list, RunItem.kind, RunItem.item)
        .where(RunItem.run_id == run.id)
        .order_by(RunItem.list, RunItem.list_order)
    )
    entries_by_list: dict[int, list[ListEntry]] = {}
    for list_, kind, item in rows:
        entries_by_list.setdefault(list_, []).append(ListEntry(item_from_row(item), Kind(kind)))
    return entries_by_list
