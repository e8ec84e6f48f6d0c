"""Checks of sides, orders and rules in the sessions of all places (participant slots)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from experiment.design.audit.list_checks import option_checks
from experiment.design.audit.sessions import Check, Composition, Session, check, make_info_row
from experiment.design.frames import MaterialsIndex
from experiment.design.lists import BuiltLists, lists_named, source_name
from experiment.design.ordering.constraints import catch_keys
from experiment.design.session import blocks_of
from experiment.errors import ParallaxError
from experiment.exclusion.rules import verdict
from experiment.records import PAIR, Judgment, Kind, ListEntry, Side, Trial, Variant
from experiment.responses.base import Arrangement, Balance, ResponseType
from experiment.studies.design import Design, Given, Shared, Source, holds
from experiment.studies.study import Study


def session_checks(study: Study, built: BuiltLists, composition: Composition) -> Iterator[Check]:
    """Yield the checks of the session at each place."""
    sessions = composition.sessions
    yield check("sessions composed", f"{study.design.n_places}", composition.failures)
    yield check(
        "trials of a session",
        "each item once, as listed",
        _find_incomplete_sessions(built, sessions),
    )
    for task, of_task in composition.by_task():
        for result in _check_balance(study, of_task):
            yield replace(result, name=f"{result.name}, task {task}" if task else result.name)
    excluded = _check_correct_sessions_kept(study, composition.response, sessions)
    yield check("a session without an error", "kept by every rule", excluded)


def _check_balance(study: Study, composition: Composition) -> Iterator[Check]:
    """Yield the checks of the balance that a response type requires."""
    response, sessions = composition.response, composition.sessions
    if response.balance is Balance.PLACES:
        yield from option_checks(sessions)
    else:
        yield from _check_sides(study.design, sessions, response.balance)
    if response.step_table:
        yield check(
            "sides of right words, in a trial",
            "half on each, at most three running, where there are two",
            _find_imbalances(response, sessions),
        )


def _find_imbalances(response: ResponseType, sessions: Sequence[Session]) -> Iterator[str]:
    for session in sessions:
        shown_conditions = [
            Arrangement(trial.good_side, trial.options, trial.points) for trial in session.trials
        ]
        for problem in response.find_imbalances(shown_conditions):
            yield f"{session.name}: {problem}"


def _check_sides(design: Design, sessions: Sequence[Session], balance: Balance) -> Iterator[Check]:
    """Yield the checks of the good option's side, or of which version is shown."""
    is_one_version = balance is Balance.VERSIONS
    good, opposite = ("good shown", "the other version") if is_one_version else ("good first", "")
    sessions = [_keep_trials_with_two_versions(session) for session in sessions]
    places = sorted({design.places(number) for number in range(design.n_lists)})
    yield check(
        f"trials with {good}, in a session",
        _describe_halves(sessions),
        _find_uneven_sides(sessions),
    )
    yield check(
        f"trials with {good}, in a construction",
        _describe_construction_halves(sessions),
        _find_uneven_sides_by_construction(sessions),
    )
    yield check(
        f"sessions with {good}, for an item",
        ", ".join(map(_describe_half, places)),
        _find_uneven_sides_by_item(sessions),
    )
    yield check(
        "places 2j and 2j+1 of a list", opposite or "opposite sides", _find_equal_sides(sessions)
    )


def _keep_trials_with_two_versions(session: Session) -> Session:
    """Return a session without the trials of items that have only one version."""
    entries = session.entries
    return replace(
        session, trials=tuple(t for t in session.trials if entries[t.item_id].item.alternative)
    )


def _find_incomplete_sessions(built: BuiltLists, sessions: Sequence[Session]) -> Iterator[str]:
    for session in sessions:
        listed_trials = Counter((e.item.item_id, e.kind) for e in built.lists[session.list_])
        shown_trials = Counter((trial.item_id, trial.kind) for trial in session.trials)
        positions = [trial.position for trial in session.trials]
        if listed_trials != shown_trials or positions != list(range(1, len(positions) + 1)):
            yield session.name


def _describe_half(n: int) -> str:
    return f"{n // 2}" if n % 2 == 0 else f"{n // 2} or {n // 2 + 1}"


def _describe_halves(sessions: Sequence[Session]) -> str:
    lengths = sorted({len(session.trials) for session in sessions})
    return ", ".join(map(_describe_half, lengths))


def _describe_construction_halves(sessions: Sequence[Session]) -> str:
    catch = Counter[str]()
    for session in sessions[:1]:
        entries = list(session.entries.values())
        catching = catch_keys(entries, "construction")
        catch.update(e.item.construction for e in entries if e.item.construction in catching)
    return "".join(["half", *(f", {_describe_half(n)} of {n} {name}" for name, n in catch.items())])


def _is_good_first(trial: Trial) -> bool:
    """Return whether the good option is first, or only the good version is shown."""
    if trial.options:
        return trial.options[0] == Variant.GOOD
    return trial.good_side is Side.FIRST


def _count_good_first(trials: Sequence[Trial]) -> int:
    return sum(map(_is_good_first, trials))


def _is_half(part: int, total: int) -> bool:
    return part in (total // 2, total - total // 2)


def _find_uneven_sides(sessions: Sequence[Session]) -> Iterator[str]:
    for session in sessions:
        if not _is_half(n := _count_good_first(session.trials), len(session.trials)):
            yield f"{session.name}: {n} of {len(session.trials)}"


def _find_uneven_sides_by_construction(sessions: Sequence[Session]) -> Iterator[str]:
    for session in sessions:
        groups: dict[str | None, list[Trial]] = {}
        for trial, construction in zip(session.trials, session.labels("construction"), strict=True):
            groups.setdefault(construction, []).append(trial)
        for construction, trials in groups.items():
            if not _is_half(n := _count_good_first(trials), len(trials)):
                yield f"{session.name}: {n} of {len(trials)} {construction}"


def _find_uneven_sides_by_item(sessions: Sequence[Session]) -> Iterator[str]:
    trials_by_item: dict[tuple[int, str], list[Trial]] = {}
    for session in sessions:
        for trial in session.trials:
            trials_by_item.setdefault((session.list_, trial.item_id), []).append(trial)
    for (list_, item_id), trials in trials_by_item.items():
        if not _is_half(n := _count_good_first(trials), len(trials)):
            yield f"list {list_}: {n} of {len(trials)} show {item_id}"


def _find_equal_sides(sessions: Sequence[Session]) -> Iterator[str]:
    sides = {
        (session.list_, session.place, trial.item_id): _is_good_first(trial)
        for session in sessions
        for trial in session.trials
    }
    for (list_, place, item_id), side in sides.items():
        if place % 2 == 0 and sides.get((list_, place + 1, item_id)) is side:
            yield f"list {list_}, places {place} and {place + 1}: {item_id}"


def _check_correct_sessions_kept(
    study: Study, response: ResponseType, sessions: Sequence[Session]
) -> Iterator[str]:
    for session in sessions:
        judgments = list(_make_correct_judgments(session, response))
        try:
            outcome = verdict(study.exclusion, judgments)
        except ParallaxError as error:
            yield f"{session.name}: {error}"
            continue
        if not outcome.kept:
            yield f"{session.name}: {outcome.evidence}"


def _make_correct_judgments(session: Session, response: ResponseType) -> Iterator[Judgment]:
    """Return a session's error-free judgments.

    Ratings of single versions, and texts where none is expected, vary within and between cells.
    """
    right_positions: dict[tuple[str, str, Kind], int] = {}
    for trial in session.trials:
        item, good_side = session.entries[trial.item_id].item, trial.good_side
        if trial.points is not None and not item.alternative:
            cell = item.construction, item.condition, trial.kind
            right_positions[cell] = right_positions.get(cell, len(right_positions)) + 1
            good_side = Side.FIRST if right_positions[cell] % len(PAIR) else None
        arrangement = Arrangement(good_side, trial.options, trial.points)
        judgment = response.score_answer(arrangement, response.correct_answer(arrangement))
        if judgment.typed and judgment.chose_good is None:
            judgment = replace(judgment, answer=item.item_id)
        yield Judgment(
            position=trial.position,
            item_id=trial.item_id,
            kind=trial.kind,
            construction=item.construction,
            rt_ms=None,
            condition=item.condition,
            extra=item.extra,
            **judgment.fields(),
        )


def shared_checks(
    design: Design, index: MaterialsIndex, built: BuiltLists, sessions: Sequence[Session]
) -> Iterator[Check]:
    """Yield the checks of items outside squares; none if the design has no such items."""
    for shared in design.shared:
        expected = _count_required_items(shared, index)
        yield check(
            f"{source_name(shared)} in each list",
            f"the same {sum(expected.values())}",
            _check_shared_items(shared, expected, design, built),
        )
    for source in design.given:
        yield check(
            source_name(source),
            "as their column says",
            _check_given_lists(source, design, index, built),
        )
    if design.shared or design.given:
        yield check("kinds of items shared or given", "their own", _find_wrong_kinds(design, built))
    if design.factors:
        yield check(
            "factors' levels of the lists",
            _describe_factors(design),
            _find_wrong_levels(design, built),
        )
        yield check(
            "items of some levels alone",
            "in their lists alone",
            _find_misplaced_items(design, built),
        )
        yield check(
            "lists that differ in levels alone",
            "have the same items",
            _find_different_lists(design, built),
        )
    if design.factors or design.quotas:
        yield make_info_row("participants", _describe_participants(design))
    if design.order.blocks == "counterbalanced" and not _is_one_block(design):
        yield check(
            "blocks that come first, over a list's places",
            "1 apart at most",
            _find_uneven_rotation(sessions, design),
        )


def _select_entries(source: Source, entries: Sequence[ListEntry]) -> list[ListEntry]:
    return [entry for entry in entries if entry.item.template in source.templates]


def _list_entries_by_list(
    source: Source, design: Design, built: BuiltLists
) -> Iterator[tuple[int, list[ListEntry]]]:
    for number, entries in enumerate(built.lists):
        if holds(source.when, design.levels(number)):
            yield number, _select_entries(source, entries)


def _count_required_items(shared: Shared, index: MaterialsIndex) -> Counter[str]:
    """Return the number of required items per condition; under an empty name if any will do."""
    if shared.conditions:
        return Counter(shared.conditions)
    return Counter({"": shared.items or len(index.all_items(shared.templates))})


def _check_shared_items(
    shared: Shared, expected: Counter[str], design: Design, built: BuiltLists
) -> Iterator[str]:
    first: set[str] | None = None
    for number, entries in _list_entries_by_list(shared, design, built):
        ids = {entry.item.item_id for entry in entries}
        numbers = Counter(entry.item.condition if shared.conditions else "" for entry in entries)
        if numbers != expected or len(ids) != len(entries):
            by_name = ", ".join(f"{n} {name}".strip() for name, n in numbers.items())
            yield f"list {number}: {by_name}"
        first = ids if first is None else first
        if ids != first:
            yield f"list {number}: other items, such as {min(ids ^ first)}"


def _check_given_lists(
    fixed_lists: Given, design: Design, index: MaterialsIndex, built: BuiltLists
) -> Iterator[str]:
    items = index.all_items(fixed_lists.templates)
    lists_by_item = {item.item_id: lists_named(item, fixed_lists.column) for item in items}
    everywhere = {item_id for item_id, names in lists_by_item.items() if not names}
    ids_by_list = {
        number: {entry.item.item_id for entry in entries}
        for number, entries in _list_entries_by_list(fixed_lists, design, built)
    }
    list_of: dict[str, int] = {}
    for number, ids in ids_by_list.items():
        within = design.number_within(number)
        for item_id in sorted(everywhere - ids):
            yield f"list {number}: {item_id} is missing"
        common = [
            set(lists_by_item[item_id]) for item_id in ids - everywhere if item_id in lists_by_item
        ]
        names = set.intersection(*common) if common else set()
        # Two lists may have the same items of some templates.
        name = next((n for n in sorted(names) if list_of.setdefault(n, within) == within), None)
        if name is None:
            yield f"list {number}: items of several lists"
            continue
        expected = {
            item_id for item_id, names in lists_by_item.items() if name in names or not names
        }
        if expected != ids:
            yield f"list {number}: not the items of {name}, such as {min(expected ^ ids)}"


def _find_wrong_kinds(design: Design, built: BuiltLists) -> Iterator[str]:
    for source in (*design.shared, *design.given):
        for number, entries in _list_entries_by_list(source, design, built):
            for entry in entries:
                if entry.kind is not entry.item.kind:
                    yield f"list {number}: {entry.item.item_id} is {entry.kind}"


def _describe_factors(design: Design) -> str:
    return " x ".join(f"{len(levels)} {factor}" for factor, levels in design.factors.items())


def _find_wrong_levels(design: Design, built: BuiltLists) -> Iterator[str]:
    counts = Counter(tuple(levels.items()) for levels in built.levels)
    for levels in design.combinations:
        if counts[tuple(levels.items())] != design.lists:
            yield f"{counts[tuple(levels.items())]} lists of {' '.join(levels.values())}"
    for number, levels in enumerate(built.levels):
        if levels != design.levels(number):
            yield f"list {number}: {' '.join(levels.values())}"


def _find_misplaced_items(design: Design, built: BuiltLists) -> Iterator[str]:
    for number, entries in enumerate(built.lists):
        allowed = {
            name
            for source in design.sources
            if holds(source.when, design.levels(number))
            for name in source.templates
        }
        for entry in entries:
            if entry.item.template not in allowed:
                yield f"list {number}: {entry.item.item_id}"


def _find_different_lists(design: Design, built: BuiltLists) -> Iterator[str]:
    for source in design.sources:
        first: dict[int, tuple[int, set[tuple[str, str]]]] = {}
        for number, entries in _list_entries_by_list(source, design, built):
            items = {(entry.item.item_id, str(entry.kind)) for entry in entries}
            within = design.number_within(number)
            other_list, first_items = first.setdefault(within, (number, items))
            if items != first_items:
                yield f"lists {other_list} and {number}: {'+'.join(source.templates)}"


def _describe_participants(design: Design) -> str:
    counts = Counter[str]()
    for number in range(design.n_lists):
        levels = design.levels(number)
        counts[" ".join(levels.values()) or f"list {number}"] += design.places(number)
    return ", ".join(f"{n} {name}" for name, n in counts.items())


def _is_one_block(design: Design) -> bool:
    return len({*design.block_names} - {*design.order.first_blocks}) < 2


def _find_uneven_rotation(sessions: Sequence[Session], design: Design) -> Iterator[str]:
    first: dict[int, Counter[str]] = {}
    names_by_list: dict[int, set[str]] = {}
    for session in sessions:
        names = [
            design.block_of[session.shown[block[0]].item.template]
            for block in blocks_of(session.shown, design, session.place)
        ]
        turning = [name for name in names if name not in design.order.first_blocks]
        blocks = [design.block_of[entry.item.template] for entry in session.shown]
        turns = [name for name in dict.fromkeys(blocks) if name in turning]
        first.setdefault(session.list_, Counter())[turns[0] if turns else ""] += 1
        names_by_list.setdefault(session.list_, set()).update(turning)
    for list_, counts in first.items():
        numbers = [counts[name] for name in names_by_list[list_]]
        if numbers and max(numbers) - min(numbers) > 1:
            yield f"list {list_}: {', '.join(f'{n} {name}' for name, n in counts.items())}"
