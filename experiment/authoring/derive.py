"""The derivation of the smallest balanced design for a table's items, with every key set."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import gcd

from experiment.design.lists import list_sort_key, lists_named
from experiment.errors import MaterialsError
from experiment.materials.formats.crossing import LIST_COLUMNS
from experiment.materials.formats.words import key_of
from experiment.records import Item, Kind

# The customary number of judgments per item; an even number balances the sides.
_PLACES_PER_LIST = 20
_FEWEST_LISTS = 2


@dataclass(frozen=True, slots=True)
class SquarePlan:
    """One square: a template's frames by its conditions."""

    template: str
    frames: int
    conditions: int
    left_out: int


@dataclass(frozen=True, slots=True)
class SharedPlan:
    """Items that every list shows: a template's fillers or catch trials."""

    template: str
    items: int


@dataclass(frozen=True, slots=True)
class GivenPlan:
    """Items whose own column assigns them to lists, with the number of trials in each list."""

    template: str
    column: str
    trials: int


@dataclass(frozen=True, slots=True)
class DesignPlan:
    """A design that suits some items.

    Attributes:
        lists: The number of lists.
        participants_per_list: The places (participant slots) of each list: an even number.
        trials_per_list: The trials of each list.
        separate: The column in which neighbours must differ; empty if the items are too similar.
        squares: The squares, one for each template that a Latin square distributes.
        shared: The templates that every list shows.
        given: The templates whose items name their list.
        notes: The decisions, as sentences.
        blocks: Each template's block of the session; empty for a single block.
    """

    lists: int
    participants_per_list: int
    trials_per_list: int
    separate: str
    squares: tuple[SquarePlan, ...]
    shared: tuple[SharedPlan, ...]
    given: tuple[GivenPlan, ...]
    notes: tuple[str, ...]
    blocks: Mapping[str, str] = field(default_factory=dict)

    @property
    def templates(self) -> set[str]:
        """The templates that lists show."""
        return {*self.in_each_list}

    @property
    def in_each_list(self) -> dict[str, int]:
        """The number of trials of each template in a list."""
        dealt = {
            source.template: source.frames * source.conditions // self.lists
            for source in self.squares
        }
        trials_by_template = {source.template: source.trials for source in self.given}
        return (
            dealt | trials_by_template | {source.template: source.items for source in self.shared}
        )


_UNEQUAL = "the lists have different numbers of items"


def plan_design(items: Sequence[Item], answers: int = 2, wished_lists: int = 0) -> DesignPlan:
    """Return a design that balances all conditions and shows no item number twice in a list.

    Fillers and catch trials with one condition are in every list. If a column ``list`` or ``group``
    distributes the targets evenly, it defines the lists. Otherwise there are as many lists as the
    template with the most conditions has conditions, or the next number that distributes every
    template's items evenly. If there is none, a template's last items are left out, with a note.

    Args:
        items: The items.
        answers: The number of screen positions of an option; a multiple of this many participants
            balances them.
        wished_lists: How many lists there shall be; 0 to choose.

    Raises:
        MaterialsError: A column ``list`` puts different numbers of items into the lists, or
            ``group`` does, and items lack conditions; or the wished lists are not possible.
    """
    column, given_notes = find_list_column(items)
    if not column:
        _refuse_unequal_lists(given_notes, items)
    in_lists = {item.template for item in items if column and dict(item.extra).get(column)}
    conditions = _count_distinct_values(items, "condition")
    sole = {
        item.template
        for item in items
        if item.kind is not Kind.TARGET and conditions[item.template] == 1
    } - in_lists
    frames = {
        n: f for n, f in _count_distinct_values(items, "frame").items() if n not in sole | in_lists
    }
    lists = _choose_number_of_lists(frames, conditions) if frames else 1
    if column:
        lists = len({value for item in items for value in lists_named(item, column)})
    # Each frame is judged by as many people as without a wish.
    judging = lists
    if wished_lists:
        judging, lists = _require_lists(wished_lists, frames, conditions, column), wished_lists
    numbers = Counter(item.template for item in items)
    squares = tuple(
        SquarePlan(name, n - n % lists, conditions[name], n % lists)
        for name, n in frames.items()
        if n >= lists
    )
    plan = DesignPlan(
        lists=lists,
        participants_per_list=answers * max(1, round(_PLACES_PER_LIST / judging / answers)),
        trials_per_list=0,
        separate="",
        squares=squares,
        shared=tuple(SharedPlan(name, n) for name, n in numbers.items() if name in sole),
        given=tuple(
            GivenPlan(name, column, _count_in_first_list(items, name, column))
            for name in numbers
            if name in in_lists
        ),
        notes=(*given_notes, *_make_notes(frames, squares, lists)),
    )
    trials = plan.in_each_list
    return replace(plan, trials_per_list=sum(trials.values()), separate=_separate(items, trials))


def _require_lists(
    wished: int, frames: Mapping[str, int], conditions: Mapping[str, int], column: str
) -> int:
    """Return the fewest lists that show all conditions; refuse a number that is not possible."""
    fewest = max((conditions[name] for name in frames), default=1)
    most = max(frames.values(), default=1)
    if column:
        raise MaterialsError(
            f'the items\' column "{column}" already puts them into lists',
            where="--lists",
            expected="either the column or the option",
        )
    if not fewest <= wished <= most:
        raise MaterialsError(
            f"{wished} list(s) cannot show {most} items in {fewest} condition(s)",
            where="--lists",
            expected=f"a number from {fewest} to {most}",
        )
    return fewest


def assign_blocks(plan: DesignPlan, items: Sequence[Item], column: str) -> DesignPlan:
    """Return the design with each template in the block that its items name in a column.

    Raises:
        MaterialsError: No item has the column, or one template's items are in several blocks.
    """
    items_by_block: dict[str, list[str]] = {}
    for item in items:
        values = {"construction": item.construction, **dict(item.extra)}
        block, templates = values.get(column, ""), items_by_block.setdefault(item.template, [])
        if block and block not in templates:
            templates.append(block)
    if not any(items_by_block.values()):
        columns = dict.fromkeys(name for item in items for name, _ in item.extra)
        raise MaterialsError(
            f'no item has a column "{column}"',
            where="--block",
            expected=f"one of: {', '.join((*columns, 'construction'))}",
        )
    for template, blocks in items_by_block.items():
        if len(blocks) > 1:
            raise MaterialsError(
                f"the items of {template} are in {len(blocks)} blocks: {', '.join(blocks)}",
                where=f"--block {column}",
                expected="all items of one construction and kind in one block",
                remedy=(
                    f"Make each block a construction: --column construction={column} --block "
                    "construction"
                ),
            )
    of = {template: blocks[0] if blocks else "" for template, blocks in items_by_block.items()}
    names = list(dict.fromkeys(of[name] for name in plan.in_each_list))
    trials = plan.in_each_list
    is_apart = all(
        _separate(items, {t: n for t, n in trials.items() if of[t] == name}) for name in names
    )
    shown = ", ".join(name or "(none)" for name in names)
    note = f'The blocks of a session are those of the column "{column}": {shown}.'
    separate = plan.separate if is_apart else ""
    return replace(plan, blocks=of, separate=separate, notes=(*plan.notes, note))


def find_list_column(items: Sequence[Item]) -> tuple[str, list[str]]:
    """Return the column that assigns items to lists of equal size without repeating a frame.

    The second value explains why a column with such a name was not accepted.
    """
    notes, templates = [], {item.template for item in items}
    for column in dict.fromkeys(name for item in items for name, _ in item.extra):
        if key_of(column) not in LIST_COLUMNS:
            continue
        lists_by_item = [lists_named(item, column) for item in items]
        lists = sorted({value for numbers in lists_by_item for value in numbers}, key=list_sort_key)
        if len(lists) < _FEWEST_LISTS:
            continue
        # An item without a list is in all lists.
        cells = Counter(
            (value, item.template, item.frame)
            for item, item_lists in zip(items, lists_by_item, strict=True)
            for value in item_lists or lists
        )
        sizes = Counter({(value, t): 0 for t in templates for value in lists})
        for (value, template, _), number in cells.items():
            sizes[value, template] += number
        (value, template, frame), number = cells.most_common(1)[0]
        if number > 1:
            shown = frame.partition("=")[2]
            fault = f'the item "{shown}" of {template} occurs {number} times in the list {value}'
        elif any(sizes[value, t] != sizes[lists[0], t] for value, t in sizes):
            odd_template = next(t for value, t in sizes if sizes[value, t] != sizes[lists[0], t])
            counts = ", ".join(f"{value}: {sizes[value, odd_template]}" for value in lists)
            fault = f"{_UNEQUAL} of {odd_template} ({counts})"
        else:
            return column, [
                f'The column "{column}" puts the items into {len(lists)} lists: {", ".join(lists)}.'
            ]
        notes.append(f'The column "{column}" cannot put the items into lists, because {fault}.')
    return "", notes


def _count_in_first_list(items: Sequence[Item], template: str, column: str) -> int:
    lists_by_item = [lists_named(item, column) for item in items if item.template == template]
    first = next(value for numbers in lists_by_item for value in numbers)
    return sum(not numbers or first in numbers for numbers in lists_by_item)


def _refuse_unequal_lists(notes: Sequence[str], items: Sequence[Item]) -> None:
    # Parallax can assign grouped items by itself if each is in every condition.
    lack_conditions = _lack_conditions(items)
    unequal = [note for note in notes if _UNEQUAL in note]
    if unequal := [note for note in unequal if lack_conditions or '"list"' in note.lower()]:
        raise MaterialsError(
            unequal[0].removesuffix("."),
            expected="as many items of each kind and construction in every list",
            remedy="Complete the lists, or rename the column and let Parallax make the lists",
        )


def _lack_conditions(items: Sequence[Item]) -> bool:
    """Return whether a target's frame lacks a condition of its template."""
    targets = [item for item in items if item.kind is Kind.TARGET]
    frames = _count_distinct_values(targets, "frame")
    conditions = _count_distinct_values(targets, "condition")
    cells = Counter(name for name, _, _ in {(i.template, i.frame, i.condition) for i in targets})
    return any(cells[name] < frames[name] * conditions[name] for name in frames)


def _count_distinct_values(items: Sequence[Item], attribute: str) -> dict[str, int]:
    distinct_values: dict[str, set[str]] = {}
    for item in items:
        distinct_values.setdefault(item.template, set()).add(getattr(item, attribute))
    return {name: len(values) for name, values in distinct_values.items()}


def _choose_number_of_lists(frames: Mapping[str, int], conditions: Mapping[str, int]) -> int:
    fewest = max(conditions.values())
    if fewest == 1:
        return 1
    shared = gcd(*frames.values())
    # With many more lists than conditions a list has few trials: rather leave some items out.
    fitting = (n for n in range(fewest, 2 * fewest + 1) if shared % n == 0)
    return next(fitting, fewest)


def _separate(items: Sequence[Item], trials: Mapping[str, int]) -> str:
    construction = {item.template: item.construction for item in items}
    counts = Counter[str]()
    for template, number in trials.items():
        counts[construction[template]] += number
    # At exactly half, only one order remains; neighbours are kept apart only if there is room.
    return "construction" if max(counts.values(), default=0) * 2 < counts.total() else ""


def _make_notes(frames: Mapping[str, int], squares: Sequence[SquarePlan], lists: int) -> list[str]:
    shown = {square.template for square in squares}
    partly = [
        f"{square.left_out} of the {frames[square.template]} items of {square.template} will not "
        f"be shown: {frames[square.template]} cannot be shared evenly by {lists} lists. "
        f"Add {lists - square.left_out} to show all."
        for square in squares
        if square.left_out
    ]
    not_at_all = [
        f"The {n} item(s) of {name} are in no list, because there are {lists} lists."
        for name, n in frames.items()
        if name not in shown
    ]
    return [*partly, *not_at_all]


def catch_constructions(items: Sequence[Item], design: DesignPlan) -> list[str]:
    """Return the constructions whose items are all catch trials in every list."""
    shown = design.templates
    kinds: dict[str, set[Kind]] = {}
    for item in items:
        if item.template in shown:
            kinds.setdefault(item.construction, set()).add(item.kind)
    return [name for name, of_construction in kinds.items() if of_construction == {Kind.CATCH}]
