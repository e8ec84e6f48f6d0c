"""The checks on where each of three options or more stands."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from experiment.design.audit.check import Check, check
from experiment.design.audit.sessions import Session
from experiment.records import Side


def option_checks(sessions: Sequence[Session]) -> Iterator[Check]:
    """Yield the checks on the places of the options, over trials and over participants."""
    yield check(
        "places of the good option, in a construction of a session",
        "each about as often: once more at most, of items with as many options",
        _uneven_in_sessions(sessions),
    )
    yield check(
        "places of each option, for an item of a list",
        "each as often in every place, over as many neighbouring places as it has options",
        _uneven_over_places(sessions),
    )


def _uneven_in_sessions(sessions: Sequence[Session]) -> Iterator[str]:
    for session in sessions:
        constructions = session.labels("construction")
        sizes: dict[str | None, set[int]] = {}
        sides: dict[str | None, list[Side | None]] = {}
        for trial, construction in zip(session.trials, constructions, strict=True):
            sizes.setdefault(construction, set()).add(len(trial.options))
            sides.setdefault(construction, []).append(trial.good_side)
        for construction, found in sides.items():
            # Items of several numbers of options cannot be balanced with one another.
            if len(sizes[construction]) == 1 and _spread(found, *sizes[construction]) > 1:
                yield f"{session.name}: {construction}"


def _uneven_over_places(sessions: Sequence[Session]) -> Iterator[str]:
    most = max((len(t.options) for session in sessions for t in session.trials), default=1)
    seen: dict[tuple[int, int, str], list[tuple[str, ...]]] = {}
    for session in sessions:
        for trial in session.trials:
            group = (session.list_, session.place // most, trial.item_id)
            seen.setdefault(group, []).append(trial.options)
    for (list_, _, item_id), orders in seen.items():
        n = len(orders[0])
        for name in orders[0]:
            if _spread((order.index(name) for order in orders), n) > 1:
                yield f"list {list_}: {item_id}, {name}"


def _spread(values: Iterable[object], n: int) -> int:
    """Return how much more often the commonest of n values occurs than the rarest."""
    counts = Counter(values)
    return max(counts.values()) - (min(counts.values()) if len(counts) == n else 0)
