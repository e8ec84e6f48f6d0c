"""The promises on sides, orders and rules, counted in the sessions of all places."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from experiment.design.lists import BuiltLists, ListEntry
from experiment.design.promises.composed import Session, Sessions
from experiment.design.promises.promise import Promise, promised
from experiment.errors import ParallaxError
from experiment.exclusion.verdict import verdict
from experiment.records import Judgment, Side, Trial
from experiment.studies.study import Study
from experiment.trials.compose import catch_keys


def session_promises(study: Study, built: BuiltLists, sessions: Sessions) -> Iterator[Promise]:
    """Yield the promises on what each place's participant sees."""
    separate, composed = study.design.separate, sessions.composed
    places = study.design.participants_per_list
    yield promised("sessions composed", f"{places * study.design.lists}", sessions.failures)
    yield promised("trials of a session", "each item once, as listed", _incomplete(built, composed))
    yield promised("trials with good first, in a session", _halves(composed), _sides(composed))
    yield promised(
        "trials with good first, in a construction",
        _construction_halves(composed),
        _sides_by_construction(composed),
    )
    yield promised("sessions with good first, for an item", _half(places), _sides_by_item(composed))
    yield promised("places 2j and 2j+1 of a list", "opposite sides", _alike(composed))
    apart = f"differ in {separate}" if separate else "anything"
    yield promised("neighbouring trials", apart, _neighbours(composed, separate))
    yield promised("catch trials over a session", "one per stretch", _bunched(composed, separate))
    yield promised("a session without an error", "kept by every rule", _excluded(study, composed))


def _incomplete(built: BuiltLists, composed: Sequence[Session]) -> Iterator[str]:
    for session in composed:
        listed = Counter((e.item.item_id, e.kind) for e in built.lists[session.list_])
        shown = Counter((trial.item_id, trial.kind) for trial in session.trials)
        positions = [trial.position for trial in session.trials]
        if listed != shown or positions != list(range(1, len(positions) + 1)):
            yield session.name


def _half(n: int) -> str:
    return f"{n // 2}" if n % 2 == 0 else f"{n // 2} or {n // 2 + 1}"


def _halves(composed: Sequence[Session]) -> str:
    return ", ".join(_half(n) for n in sorted({len(session.trials) for session in composed}))


def _construction_halves(composed: Sequence[Session]) -> str:
    catch = Counter[str]()
    for session in composed[:1]:
        entries = list(session.entries.values())
        catching = catch_keys(entries, "construction")
        catch.update(e.item.construction for e in entries if e.item.construction in catching)
    return "".join(["half", *(f", {_half(n)} of {n} {name}" for name, n in catch.items())])


def _n_first(trials: Sequence[Trial]) -> int:
    return sum(trial.good_side is Side.FIRST for trial in trials)


def _is_half(part: int, whole: int) -> bool:
    return part in (whole // 2, whole - whole // 2)


def _sides(composed: Sequence[Session]) -> Iterator[str]:
    for session in composed:
        if not _is_half(n := _n_first(session.trials), len(session.trials)):
            yield f"{session.name}: {n} of {len(session.trials)}"


def _sides_by_construction(composed: Sequence[Session]) -> Iterator[str]:
    for session in composed:
        groups: dict[str, list[Trial]] = {}
        for trial, construction in zip(session.trials, session.keys("construction"), strict=True):
            groups.setdefault(construction, []).append(trial)
        for construction, trials in groups.items():
            if not _is_half(n := _n_first(trials), len(trials)):
                yield f"{session.name}: {n} of {len(trials)} {construction}"


def _sides_by_item(composed: Sequence[Session]) -> Iterator[str]:
    shown: dict[tuple[int, str], list[Trial]] = {}
    for session in composed:
        for trial in session.trials:
            shown.setdefault((session.list_, trial.item_id), []).append(trial)
    for (list_, item_id), trials in shown.items():
        if not _is_half(n := _n_first(trials), len(trials)):
            yield f"list {list_}: {n} of {len(trials)} show {item_id}"


def _alike(composed: Sequence[Session]) -> Iterator[str]:
    sides = {
        (session.list_, session.place, trial.item_id): trial.good_side
        for session in composed
        for trial in session.trials
    }
    for (list_, place, item_id), side in sides.items():
        if place % 2 == 0 and sides.get((list_, place + 1, item_id)) is side:
            yield f"list {list_}, places {place} and {place + 1}: {item_id}"


def _neighbours(composed: Sequence[Session], separate: str) -> Iterator[str]:
    for session in composed if separate else ():
        keys = session.keys(separate)
        for position, (key, following) in enumerate(pairwise(keys), start=1):
            if key == following:
                yield f"{session.name}, positions {position} and {position + 1}: {key}"


def _bunched(composed: Sequence[Session], separate: str) -> Iterator[str]:
    for session in composed:
        keys = session.keys(separate)
        for catch in sorted(catch_keys(list(session.entries.values()), separate)):
            at = [position for position, key in enumerate(keys) if key == catch]
            starts = [stretch * len(keys) // len(at) for stretch in range(len(at) + 1)]
            if any(not a <= p < b for p, (a, b) in zip(at, pairwise(starts), strict=True)):
                yield f"{session.name}: {catch}"


def _excluded(study: Study, composed: Sequence[Session]) -> Iterator[str]:
    for session in composed:
        judgments = [_faultless(trial, session.entries) for trial in session.trials]
        try:
            reached = verdict(study.exclusion, judgments)
        except ParallaxError as error:
            yield f"{session.name}: {error}"
            continue
        if not reached.kept:
            yield f"{session.name}: {reached.evidence}"


def _faultless(trial: Trial, entries: dict[str, ListEntry]) -> Judgment:
    return Judgment(
        position=trial.position,
        item_id=trial.item_id,
        kind=trial.kind,
        construction=entries[trial.item_id].item.construction,
        chose_good=True,
        chosen_side=trial.good_side,
        rt_ms=None,
    )
