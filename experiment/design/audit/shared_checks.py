"""The checks on items that no square deals, on factors between participants, and on places."""

from collections import Counter
from collections.abc import Iterator, Sequence

from experiment.design.audit.check import Check, check, info
from experiment.design.audit.sessions import Session
from experiment.design.lists import BuiltLists, ListEntry
from experiment.design.materials_index import MaterialsIndex
from experiment.design.session import blocks_of
from experiment.design.shared import lists_named, source_name
from experiment.studies.design import Design, Given, Shared, Source, holds


def shared_checks(
    design: Design, index: MaterialsIndex, built: BuiltLists, sessions: Sequence[Session]
) -> Iterator[Check]:
    """Yield the checks on what goes beyond squares; none where a design has nothing of it."""
    for shared in design.shared:
        wanted = _wanted(shared, index)
        yield check(
            f"{source_name(shared)} in each list",
            f"the same {sum(wanted.values())}",
            _shared(shared, wanted, design, built),
        )
    for given in design.given:
        yield check(source_name(given), "as their column says", _given(given, design, index, built))
    if design.shared or design.given:
        yield check("kinds of items shared or given", "their own", _kinds(design, built))
    if design.factors:
        yield check("factors' levels of the lists", _factors_text(design), _levels(design, built))
        yield check("items of some levels alone", "in their lists alone", _strays(design, built))
        yield check(
            "lists that differ in levels alone", "have the same items", _unlike(design, built)
        )
    if design.factors or design.quotas:
        yield info("participants", _participants(design))
    if design.order.blocks == "counterbalanced" and not _is_one_block(design):
        yield check(
            "blocks that come first, over a list's places",
            "1 apart at most",
            _turns(sessions, design),
        )


def _of(source: Source, entries: Sequence[ListEntry]) -> list[ListEntry]:
    return [entry for entry in entries if entry.item.template in source.templates]


def _showing(
    source: Source, design: Design, built: BuiltLists
) -> Iterator[tuple[int, list[ListEntry]]]:
    for number, entries in enumerate(built.lists):
        if holds(source.when, design.levels(number)):
            yield number, _of(source, entries)


def _wanted(shared: Shared, index: MaterialsIndex) -> Counter[str]:
    """Return how many items of each condition are asked for; of any, under an empty name."""
    if shared.conditions:
        return Counter(shared.conditions)
    return Counter({"": shared.items or len(index.all_items(shared.templates))})


def _shared(
    shared: Shared, wanted: Counter[str], design: Design, built: BuiltLists
) -> Iterator[str]:
    first: set[str] | None = None
    for number, entries in _showing(shared, design, built):
        ids = {entry.item.item_id for entry in entries}
        found = Counter(entry.item.condition if shared.conditions else "" for entry in entries)
        if found != wanted or len(ids) != len(entries):
            yield f"list {number}: {', '.join(f'{n} {name}'.strip() for name, n in found.items())}"
        first = ids if first is None else first
        if ids != first:
            yield f"list {number}: other items, such as {min(ids ^ first)}"


def _given(given: Given, design: Design, index: MaterialsIndex, built: BuiltLists) -> Iterator[str]:
    items = index.all_items(given.templates)
    named = {item.item_id: lists_named(item, given.column) for item in items}
    everywhere = {item_id for item_id, names in named.items() if not names}
    shown = {
        number: {entry.item.item_id for entry in entries}
        for number, entries in _showing(given, design, built)
    }
    list_of: dict[str, int] = {}
    for number, ids in shown.items():
        within = design.number_within(number)
        for item_id in sorted(everywhere - ids):
            yield f"list {number}: {item_id} is missing"
        common = [set(named[item_id]) for item_id in ids - everywhere if item_id in named]
        names = set.intersection(*common) if common else set()
        if len(names) != 1 or list_of.setdefault(min(names), within) != within:
            yield f"list {number}: items of several lists"
            continue
        (name,) = names
        wanted = {item_id for item_id, own in named.items() if name in own or not own}
        if wanted != ids:
            yield f"list {number}: not the items of {name}, such as {min(wanted ^ ids)}"


def _kinds(design: Design, built: BuiltLists) -> Iterator[str]:
    for source in (*design.shared, *design.given):
        for number, entries in _showing(source, design, built):
            for entry in entries:
                if entry.kind is not entry.item.kind:
                    yield f"list {number}: {entry.item.item_id} is {entry.kind}"


def _factors_text(design: Design) -> str:
    return " x ".join(f"{len(levels)} {factor}" for factor, levels in design.factors.items())


def _levels(design: Design, built: BuiltLists) -> Iterator[str]:
    counts = Counter(tuple(levels.items()) for levels in built.levels)
    for levels in design.combinations:
        if counts[tuple(levels.items())] != design.lists:
            yield f"{counts[tuple(levels.items())]} lists of {' '.join(levels.values())}"
    for number, levels in enumerate(built.levels):
        if levels != design.levels(number):
            yield f"list {number}: {' '.join(levels.values())}"


def _strays(design: Design, built: BuiltLists) -> Iterator[str]:
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


def _unlike(design: Design, built: BuiltLists) -> Iterator[str]:
    for source in design.sources:
        first: dict[int, tuple[int, set[tuple[str, str]]]] = {}
        for number, entries in _showing(source, design, built):
            items = {(entry.item.item_id, str(entry.kind)) for entry in entries}
            other, seen = first.setdefault(design.number_within(number), (number, items))
            if items != seen:
                yield f"lists {other} and {number}: {'+'.join(source.templates)}"


def _participants(design: Design) -> str:
    counts = Counter[str]()
    for number in range(design.n_lists):
        levels = design.levels(number)
        counts[" ".join(levels.values()) or f"list {number}"] += design.places(number)
    return ", ".join(f"{n} {name}" for name, n in counts.items())


def _is_one_block(design: Design) -> bool:
    return len({*design.block_names} - {*design.order.first_blocks}) < 2


def _turns(sessions: Sequence[Session], design: Design) -> Iterator[str]:
    first: dict[int, Counter[str]] = {}
    shown: dict[int, set[str]] = {}
    for session in sessions:
        names = [
            design.block_of[session.shown[block[0]].item.template]
            for block in blocks_of(session.shown, design, session.place)
        ]
        turning = [name for name in names if name not in design.order.first_blocks]
        seen = [design.block_of[entry.item.template] for entry in session.shown]
        came = [name for name in dict.fromkeys(seen) if name in turning]
        first.setdefault(session.list_, Counter())[came[0] if came else ""] += 1
        shown.setdefault(session.list_, set()).update(turning)
    for list_, counts in first.items():
        numbers = [counts[name] for name in shown[list_]]
        if numbers and max(numbers) - min(numbers) > 1:
            yield f"list {list_}: {', '.join(f'{n} {name}' for name, n in counts.items())}"
