"""The lists of launched runs; they never change, so each process caches them."""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple, NotRequired, Protocol, TypedDict
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Dialect, Engine, Integer, bindparam, select

from experiment.materials.item_rows import item_from_row
from experiment.records import Kind, ListEntry
from webapp.database.models import RunItem
from webapp.database.prepared import Prepared


class ShownTrial(TypedDict):
    """A trial as sent to the browser: its texts by name, each option under its side.

    A text to be rated is on the first side. In a mixed session, ``task`` names the trial's task.
    """

    position: int
    first: str
    second: NotRequired[str]
    third: NotRequired[str]
    fourth: NotRequired[str]
    fifth: NotRequired[str]
    sixth: NotRequired[str]
    seventh: NotRequired[str]
    eighth: NotRequired[str]
    ninth: NotRequired[str]
    prefix: NotRequired[str]
    task: NotRequired[str]


# The number of lists that are kept in the cache.
_MOST_LISTS = 500


class RunKey(Protocol):
    """A run, or any object with its key and reference."""

    @property
    def id(self) -> int:
        """The run's key."""

    @property
    def ref(self) -> str:
        """The run's reference."""


class RunList(NamedTuple):
    """A list of a run.

    Attributes:
        entries: Its items in their built order.
        row_ids: The key of each item's row, by item id.
        by_row: The entries by row key.
        shown: A cache of trials as sent to browsers, by the item's row, the good side and the
            options; the code that fills it limits its size.
    """

    entries: list[ListEntry]
    row_ids: Mapping[str, int]
    by_row: Mapping[int, ListEntry]
    shown: dict[tuple[int, str, str | None], ShownTrial]


_LISTS = WeakKeyDictionary[Engine, dict[tuple[str, int], RunList]]()


def find_run_list(connection: Connection, run: RunKey, list_: int) -> RunList:
    """Return a list of a launched run."""
    lists_by_run = _LISTS.setdefault(connection.engine, {})
    # Another thread may clear the cache at any moment.
    if (cached_list := lists_by_run.get((run.ref, list_))) is None:
        rows = _prepare_items(connection.dialect).fetch(connection, run=run.id, list=list_)
        entries = {id_: ListEntry(item_from_row(item), Kind(kind)) for id_, kind, item in rows}
        if len(lists_by_run) >= _MOST_LISTS:
            lists_by_run.clear()
        row_ids = {entry.item.item_id: id_ for id_, entry in entries.items()}
        cached_list = lists_by_run[run.ref, list_] = RunList(
            list(entries.values()), row_ids, entries, {}
        )
    return cached_list


# Prepared once per database dialect.
@cache
def _prepare_items(dialect: Dialect) -> Prepared:
    run, list_ = (bindparam(name, type_=Integer) for name in ("run", "list"))
    return Prepared(
        select(RunItem.id, RunItem.kind, RunItem.item)
        .where(RunItem.run_id == run, RunItem.list == list_)
        .order_by(RunItem.list_order),
        dialect,
    )
