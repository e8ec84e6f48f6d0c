"""The checks on sides, orders and rules, counted in the sessions of all places."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from experiment.design.audit.check import Check, check
from experiment.design.audit.option_checks import option_checks
from experiment.design.audit.sessions import Composition, Session
from experiment.design.lists import BuiltLists
from experiment.design.ordering.declared import catch_keys
from experiment.errors import ParallaxError
from experiment.exclusion.rules import verdict
from experiment.records import PAIR, Judgment, Kind, Side, Trial, Variant
from experiment.responses.base import Arrangement, Balance, ResponseType
from experiment.studies.design import Design
from experiment.studies.study import Study


def session_checks(study: Study, built: BuiltLists, composition: Composition) -> Iterator[Check]:
    """Yield the checks on what each place's participant sees."""
    sessions = composition.sessions
    yield check("sessions composed", f"{study.design.n_places}", composition.failures)
    yield check("trials of a session", "each item once, as listed", _incomplete(built, sessions))
    for task, own in composition.by_task():
        for each in _balance_checks(study, own):
            yield replace(each, name=f"{each.name}, task {task}" if task else each.name)
    found = _excluded(study, composition.response, sessions)
    yield check("a session without an error", "kept by every rule", found)


def _balance_checks(study: Study, composition: Composition) -> Iterator[Check]:
    """Yield the checks on what one type of response balances."""
    response, sessions = composition.response, composition.sessions
    if response.balance is Balance.PLACES:
        yield from option_checks(sessions)
    else:
        yield from _side_checks(study.design, sessions, response.balance)
    if response.step_table:
        yield check(
            "sides of right words, in a trial",
            "half on each, at most three running, where there are two",
            _uneven(response, sessions),
        )


def _uneven(response: ResponseType, sessions: Sequence[Session]) -> Iterator[str]:
    for session in sessions:
        shown = [Arrangement(one.good_side, one.options, one.points) for one in session.trials]
        yield from (f"{session.name}: {found}" for found in response.unbalanced(shown))


def _side_checks(design: Design, sessions: Sequence[Session], balance: Balance) -> Iterator[Check]:
    """Yield the checks on where the good one of two options stands, or which of two is shown."""
    one = balance is Balance.VERSIONS
    good, opposite = ("good shown", "the other version") if one else ("good first", "")
    sessions = [_with_two_versions(session) for session in sessions]
    places = sorted({design.places(number) for number in range(design.n_lists)})
    yield check(f"trials with {good}, in a session", _halves(sessions), _sides(sessions))
    yield check(
        f"trials with {good}, in a construction",
        _construction_halves(sessions),
        _sides_by_construction(sessions),
    )
    yield check(
        f"sessions with {good}, for an item",
        ", ".join(map(_half, places)),
        _sides_by_item(sessions),
    )
    yield check("places 2j and 2j+1 of a list", opposite or "opposite sides", _alike(sessions))


def _with_two_versions(session: Session) -> Session:
    """Return a session without the trials of items that have one version alone."""
    entries = session.entries
    return replace(
        session, trials=tuple(t for t in session.trials if entries[t.item_id].item.alternative)
    )


def _incomplete(built: BuiltLists, sessions: Sequence[Session]) -> Iterator[str]:
    for session in sessions:
        listed = Counter((e.item.item_id, e.kind) for e in built.lists[session.list_])
        shown = Counter((trial.item_id, trial.kind) for trial in session.trials)
        positions = [trial.position for trial in session.trials]
        if listed != shown or positions != list(range(1, len(positions) + 1)):
            yield session.name


def _half(n: int) -> str:
    return f"{n // 2}" if n % 2 == 0 else f"{n // 2} or {n // 2 + 1}"


def _halves(sessions: Sequence[Session]) -> str:
    return ", ".join(_half(n) for n in sorted({len(session.trials) for session in sessions}))


def _construction_halves(sessions: Sequence[Session]) -> str:
    catch = Counter[str]()
    for session in sessions[:1]:
        entries = list(session.entries.values())
        catching = catch_keys(entries, "construction")
        catch.update(e.item.construction for e in entries if e.item.construction in catching)
    return "".join(["half", *(f", {_half(n)} of {n} {name}" for name, n in catch.items())])


def _is_first(trial: Trial) -> bool:
    """Return whether the good option stands first, or the good version alone is shown."""
    if trial.options:
        return trial.options[0] == Variant.GOOD
    return trial.good_side is Side.FIRST


def _n_first(trials: Sequence[Trial]) -> int:
    return sum(map(_is_first, trials))


def _is_half(part: int, whole: int) -> bool:
    return part in (whole // 2, whole - whole // 2)


def _sides(sessions: Sequence[Session]) -> Iterator[str]:
    for session in sessions:
        if not _is_half(n := _n_first(session.trials), len(session.trials)):
            yield f"{session.name}: {n} of {len(session.trials)}"


def _sides_by_construction(sessions: Sequence[Session]) -> Iterator[str]:
    for session in sessions:
        groups: dict[str | None, list[Trial]] = {}
        for trial, construction in zip(session.trials, session.labels("construction"), strict=True):
            groups.setdefault(construction, []).append(trial)
        for construction, trials in groups.items():
            if not _is_half(n := _n_first(trials), len(trials)):
                yield f"{session.name}: {n} of {len(trials)} {construction}"


def _sides_by_item(sessions: Sequence[Session]) -> Iterator[str]:
    shown: dict[tuple[int, str], list[Trial]] = {}
    for session in sessions:
        for trial in session.trials:
            shown.setdefault((session.list_, trial.item_id), []).append(trial)
    for (list_, item_id), trials in shown.items():
        if not _is_half(n := _n_first(trials), len(trials)):
            yield f"list {list_}: {n} of {len(trials)} show {item_id}"


def _alike(sessions: Sequence[Session]) -> Iterator[str]:
    sides = {
        (session.list_, session.place, trial.item_id): _is_first(trial)
        for session in sessions
        for trial in session.trials
    }
    for (list_, place, item_id), side in sides.items():
        if place % 2 == 0 and sides.get((list_, place + 1, item_id)) is side:
            yield f"list {list_}, places {place} and {place + 1}: {item_id}"


def _excluded(study: Study, response: ResponseType, sessions: Sequence[Session]) -> Iterator[str]:
    for session in sessions:
        judgments = list(_faultless(session, response))
        try:
            reached = verdict(study.exclusion, judgments)
        except ParallaxError as error:
            yield f"{session.name}: {error}"
            continue
        if not reached.kept:
            yield f"{session.name}: {reached.evidence}"


def _faultless(session: Session, response: ResponseType) -> Iterator[Judgment]:
    """Yield a session's judgments without an error.

    No rating of a sentence that is shown alone is an error: these vary, in every cell of the
    design and from one cell to the next, as those of somebody who reads them.
    """
    seen: dict[tuple[str, str, Kind], int] = {}
    for trial in session.trials:
        item, good_side = session.entries[trial.item_id].item, trial.good_side
        if trial.points is not None and not item.alternative:
            cell = item.construction, item.condition, trial.kind
            seen[cell] = seen.get(cell, len(seen)) + 1
            good_side = Side.FIRST if seen[cell] % len(PAIR) else None
        shown = Arrangement(good_side, trial.options, trial.points)
        judged = response.judged(shown, response.faultless(shown))
        yield Judgment(
            position=trial.position,
            item_id=trial.item_id,
            kind=trial.kind,
            construction=item.construction,
            rt_ms=None,
            condition=item.condition,
            extra=item.extra,
            **judged.fields(),
        )
