"""The materials indexed for a design, and the choice of frames with evenly used words."""

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from experiment.design.separating import Inclusion, check_inclusion, draw_frames
from experiment.errors import DesignError
from experiment.materials.read import MaterialsHash
from experiment.plugins import unknown_name
from experiment.records import Item, lemmas_of
from experiment.seeds import generator
from experiment.studies.design import Design, Disjoint, Square


@dataclass(frozen=True, slots=True)
class Frame:
    """The lexical choices that the items of one frame share.

    Attributes:
        template: The template of the items.
        text: The frame as written in the items.
        lemmas: The lemma of each slot.
    """

    template: str
    text: str
    lemmas: dict[str, str] = field(compare=False)


@dataclass(frozen=True, slots=True)
class MaterialsIndex:
    """The items of some templates by template, frame and condition, and the materials' hash."""

    items: dict[str, dict[str, dict[str, Item]]]
    materials_hash: str

    def conditions(self, templates: Iterable[str]) -> list[str]:
        """Return the conditions that the templates share, in order of first appearance.

        Raises:
            UnknownNameError: The materials lack a template.
            DesignError: The templates differ in their conditions.
        """
        by_template = {template: self._conditions_of(template) for template in templates}
        (first, conditions), *other_templates = by_template.items()
        for template, template_conditions in other_templates:
            if set(template_conditions) != set(conditions):
                raise DesignError(
                    f'the template "{template}" has the conditions '
                    f'{", ".join(template_conditions)}, but "{first}" has {", ".join(conditions)}',
                    where=f'the square of "{first}"',
                    expected="the same conditions in all templates of a square",
                )
        return conditions

    def _conditions_of(self, template: str) -> list[str]:
        if template not in self.items:
            raise unknown_name("template", template, list(self.items))
        frames = self.items[template].values()
        return list(dict.fromkeys(condition for items in frames for condition in items))

    def frames(self, template: str) -> list[Frame]:
        """Return the frames that have an item in every condition of their template."""
        n_conditions = len(self._conditions_of(template))
        return [
            Frame(template, text, lemmas_of(text))
            for text, items in self.items[template].items()
            if len(items) == n_conditions
        ]

    def all_items(self, templates: Iterable[str]) -> list[Item]:
        """Return every item of some templates, in the order of the materials.

        Raises:
            UnknownNameError: The materials lack a template.
        """
        selected = []
        for template in templates:
            self._conditions_of(template)
            selected += [item for items in self.items[template].values() for item in items.values()]
        return selected

    def item(self, frame: Frame, condition: str) -> Item:
        """Return the item of a frame in a condition."""
        return self.items[frame.template][frame.text][condition]


def index_materials(items: Iterable[Item] | MaterialsIndex) -> MaterialsIndex:
    """Return the materials indexed by template, frame and condition; iterates the items once.

    An existing index is returned unchanged.

    Raises:
        DesignError: Two items have the same frame and condition.
    """
    if isinstance(items, MaterialsIndex):
        return items
    sorted_items: dict[str, dict[str, dict[str, Item]]] = {}
    identity = MaterialsHash()
    for item in items:
        cell = sorted_items.setdefault(item.template, {}).setdefault(item.frame, {})
        same_cell_item = cell.setdefault(item.condition, item)
        if same_cell_item is not item:
            raise DesignError(
                f'the items "{same_cell_item.item_id}" and "{item.item_id}" have the same frame '
                f'and condition ("{item.frame}", "{item.condition}")',
                where=f'the template "{item.template}"',
                expected="only one item for each frame and condition",
            )
        identity.add(item)
    return MaterialsIndex(sorted_items, identity.hex)


_N_SIMULATIONS = 2_000
COUNTER, CHANCE = "counter", "chance"


@dataclass(frozen=True, slots=True)
class Imbalance:
    """The difference between the fullest and the emptiest list, in participants who finished.

    Attributes:
        mean: The average difference.
        low: The 5th percentile.
        high: The 95th percentile.
    """

    mean: float
    low: int
    high: int


def expected_imbalance(
    n_lists: int, participants: int, dropout: float, assignment: str, rng: random.Random
) -> Imbalance:
    """Return the expected imbalance of the lists, from simulated studies.

    Args:
        n_lists: The number of lists.
        participants: The number of participants who begin.
        dropout: The share of participants who do not finish.
        assignment: "counter" for consecutive numbers, or links that are each used once; "chance"
            for a number drawn for each participant.
        rng: The random generator.

    Raises:
        DesignError: The dropout is not a share, or the assignment is unknown.
    """
    if not 0 <= dropout < 1:
        raise DesignError(
            f"{dropout} is not a share of participants", expected="a number from 0 to below 1"
        )
    if assignment not in _ASSIGNMENTS:
        raise DesignError(
            f'"{assignment}" is not a way to assign participants to lists',
            expected=", ".join(_ASSIGNMENTS),
        )
    list_of = _ASSIGNMENTS[assignment]
    expected = []
    for _ in range(_N_SIMULATIONS):
        finished = Counter(
            list_of(number, n_lists, rng)
            for number in range(participants)
            if rng.random() >= dropout
        )
        expected.append(list_difference(finished, n_lists))
    expected.sort()
    return Imbalance(
        sum(expected) / len(expected),
        expected[len(expected) // 20],
        expected[-(len(expected) // 20) - 1],
    )


def list_difference(finished: Mapping[int, int], n_lists: int) -> int:
    """Return how many more participants the fullest list has than the emptiest list."""
    counts: Sequence[int] = [finished.get(number, 0) for number in range(n_lists)]
    return max(counts) - min(counts)


_ASSIGNMENTS: Mapping[str, Callable[[int, int, random.Random], int]] = {
    COUNTER: lambda number, n_lists, _: number % n_lists,
    CHANCE: lambda _, n_lists, rng: rng.randrange(n_lists),
}


Joint = tuple[int, tuple[str, ...]]
UseCounts = Counter[tuple[str, str]]


def count_frames(square: Square, design: Design) -> int:
    """Return the number of a square's frames: as stated, or one per list."""
    return square.frames or design.lists


def joint_choices(frame: Frame, groups: Sequence[Disjoint]) -> frozenset[Joint]:
    """Return a frame's joint choices, (group, the slots' lemmas), which no other frame may share.

    Raises:
        DesignError: The frame lacks a slot that its group names.
    """
    choices = set()
    for number, group in enumerate(groups):
        if frame.template in group.templates:
            missing = [slot for slot in group.slots if slot not in frame.lemmas]
            if missing:
                raise DesignError(
                    f"the frames have no slot {', '.join(missing)}, by which design.disjoint "
                    "keeps templates apart",
                    where=f'the template "{frame.template}"',
                    expected=f"some of: {', '.join(frame.lemmas) or 'none, it has no slots'}",
                )
            choices.add((number, tuple(frame.lemmas[slot] for slot in group.slots)))
    return frozenset(choices)


def choose_frames(
    design: Design, index: MaterialsIndex, seed: int, inclusion: Sequence[Inclusion] = ()
) -> list[list[list[Frame]]]:
    """Return, for each square, the frames chosen from each of its templates.

    Within a template, the uses of a slot's lemmas differ by at most one if the materials allow
    this, and are about equal over all templates; within a group of ``design.disjoint``, no two
    frames share their joint choice. With inclusion probabilities, frames are drawn by these.

    Raises:
        DesignError: A template has too few frames, or they cannot be balanced under the
            probabilities.
    """
    taken_joints, overall = set[Joint](), UseCounts()
    squares = []
    for square in design.squares:
        n_frames, chosen = count_frames(square, design) // len(square.templates), []
        for template in square.templates:
            rng = generator(seed, "frames", template)
            candidates = {
                frame: joint_choices(frame, design.disjoint) for frame in index.frames(template)
            }
            frames = (
                _draw(template, candidates, n_frames, inclusion, rng)
                if inclusion
                else _choose(candidates, n_frames, taken_joints, overall, rng)
            )
            if len(frames) < n_frames:
                raise _make_too_few_error(template, n_frames, len(frames), len(candidates))
            for frame in frames:
                taken_joints |= candidates[frame]
                overall.update(frame.lemmas.items())
            chosen.append(frames)
        squares.append(chosen)
    return squares


def _choose(
    candidates: dict[Frame, frozenset[Joint]],
    n_frames: int,
    taken_joints: Set[Joint],
    overall: UseCounts,
    rng: random.Random,
) -> list[Frame]:
    chosen: list[Frame] = []
    counts = UseCounts()
    pool = {frame: joint for frame, joint in candidates.items() if joint.isdisjoint(taken_joints)}
    shared = _slots_with_shared_lemmas(pool, overall)
    while pool and len(chosen) < n_frames:
        frame = _least_used(list(pool), shared, counts, overall, rng)
        chosen.append(frame)
        if used := pool.pop(frame):
            pool = {other: joint for other, joint in pool.items() if joint.isdisjoint(used)}
        counts.update(frame.lemmas.items())
    while exchange := better_exchange(chosen, candidates, taken_joints):
        out, in_ = exchange
        chosen[chosen.index(out)] = in_
    return chosen


def _draw(
    template: str,
    candidates: dict[Frame, frozenset[Joint]],
    n_frames: int,
    inclusion: Sequence[Inclusion],
    rng: random.Random,
) -> list[Frame]:
    """Return a template's frames, drawn by their inclusion probabilities."""
    rows = [row for row in inclusion if row.template == template]
    reason = find_dependence(candidates)
    if reason and not all(row.pair for row in rows):
        raise DesignError(
            f"the frames cannot be drawn one by one: {reason}",
            where=f'the template "{template}"',
            expected="pairs of frames in the table of inclusion probabilities",
            remedy="Build the table again with --separate",
        )
    if len(candidates) < n_frames:
        return list(candidates)
    by_text = {frame.text: frame for frame in candidates}
    check_inclusion(template, rows, by_text, n_frames)
    return [by_text[text] for text in draw_frames(rows, rng)]


def find_dependence(candidates: Mapping[Frame, frozenset[Joint]]) -> str:
    """Return why a template's frames cannot be drawn independently; empty if they can."""
    if shared := _slots_with_shared_lemmas(candidates, UseCounts()):
        return f"they share words of {' and '.join(sorted(shared))}, each used equally often"
    return "design.disjoint keeps them apart" if any(candidates.values()) else ""


def _slots_with_shared_lemmas(frames: Collection[Frame], overall: UseCounts) -> set[str]:
    """Return the slots with a lemma of several frames, or one that another template used.

    In the other slots, such as the number of an item, every frame is as little used as another.
    """
    slots = {slot for frame in frames for slot in frame.lemmas}
    words = Counter((slot, frame.lemmas.get(slot, "")) for frame in frames for slot in slots)
    return {word[0] for word, n in words.items() if n > 1 or overall[word]}


def _least_used(
    frames: list[Frame], shared: Set[str], counts: UseCounts, overall: UseCounts, rng: random.Random
) -> Frame:
    # Narrowing slot by slot finds a frame of least-used lemmas without scoring every frame, and a
    # random order of the slots favours none of them. Uses in other templates break ties between
    # lemmas that this template used equally often.
    slots = list(frames[0].lemmas)
    rng.shuffle(slots)
    for slot in filter(shared.__contains__, slots):
        lemmas = [frame.lemmas.get(slot, "") for frame in frames]
        uses = {lemma: (counts[slot, lemma], overall[slot, lemma]) for lemma in set(lemmas)}
        fewest_uses = min(uses.values())
        least_used = {lemma for lemma, n in uses.items() if n == fewest_uses}
        frames = [frame for frame, lemma in zip(frames, lemmas, strict=True) if lemma in least_used]
    return rng.choice(frames)


def slot_differences(chosen: Sequence[Frame], candidates: Sequence[Frame]) -> dict[str, int]:
    """Return, for each slot, how much more often its most used lemma occurs than its least used."""
    known_pairs = {pair for frame in candidates for pair in frame.lemmas.items()}
    counts = Counter(pair for frame in chosen for pair in frame.lemmas.items())
    by_slot: dict[str, list[int]] = {}
    for slot, lemma in sorted(known_pairs):
        by_slot.setdefault(slot, []).append(counts[slot, lemma])
    return {slot: max(uses) - min(uses) for slot, uses in by_slot.items()}


def better_exchange(
    chosen: Sequence[Frame], candidates: dict[Frame, frozenset[Joint]], taken_joints: Set[Joint]
) -> tuple[Frame, Frame] | None:
    """Return a chosen frame and a replacement for it that makes uses more even.

    The criterion is the sum over lemmas of the squared number of uses, which is minimal if the uses
    of a slot's lemmas differ by at most one.

    Args:
        chosen: The frames chosen from a template.
        candidates: All frames of the template, with their joint choices.
        taken_joints: The joint choices of other templates' frames.

    Returns:
        The frame to take out and the frame to put in; None if no exchange helps or the uses differ
        by at most one already.
    """
    if max(slot_differences(chosen, list(candidates)).values(), default=0) <= 1:
        return None
    counts = Counter(pair for frame in chosen for pair in frame.lemmas.items())
    unchosen = {frame: joint for frame, joint in candidates.items() if frame not in chosen}
    for out in chosen:
        used = set(taken_joints).union(*(candidates[frame] for frame in chosen if frame is not out))
        for in_, joint in unchosen.items():
            if joint.isdisjoint(used) and _compute_gain(out, in_, counts) > 0:
                return out, in_
    return None


def _compute_gain(out: Frame, in_: Frame, counts: UseCounts) -> int:
    leaving = out.lemmas.items() - in_.lemmas.items()
    entering = in_.lemmas.items() - out.lemmas.items()
    return sum(counts[pair] - 1 for pair in leaving) - sum(counts[pair] for pair in entering)


def _make_too_few_error(
    template: str, n_wanted: int, n_found: int, n_candidates: int
) -> DesignError:
    return DesignError(
        f"{n_wanted} frames are needed, but only {n_found} can be chosen from {n_candidates}",
        where=f'the template "{template}"',
        expected=(
            f"{n_wanted} frames that have an item in every condition, none with the same words "
            "in the slots that design.disjoint keeps apart"
        ),
        remedy="Add lexical choices to the materials or ask for fewer frames",
    )
