"""The checks on words: frames shared, slots balanced, near-repetitions kept out."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from experiment.design.audit.check import Check, check, info
from experiment.design.audit.sessions import SquareContents
from experiment.design.frames import Joint, better_exchange, joint_choices, slot_differences
from experiment.design.lists import BuiltLists
from experiment.design.materials_index import Frame, MaterialsIndex, lemmas_of
from experiment.records import Item
from experiment.studies.design import Design

Frames = dict[str, list[Frame]]


def frame_checks(
    design: Design, index: MaterialsIndex, squares: Sequence[SquareContents], built: BuiltLists
) -> Iterator[Check]:
    """Yield the checks on frames and two notes on how often words come back."""
    if not squares:
        return
    templates = [template for square in squares for template in square.templates]
    known = {template: index.frames(template) for template in templates}
    chosen = {
        template: _frames(square, template) for square in squares for template in square.templates
    }
    yield check("frames of each square", _shares_text(squares), _shares(squares))
    yield check(
        "uses of a slot's words within a template",
        "1 apart at most, or as even as can be",
        _uneven(design, known, chosen),
    )
    yield check(
        "frames that share their slots' choice",
        f"none in {len(design.disjoint)} groups",
        _shared_choices(design, chosen),
    )
    yield info("uses of interchangeable words, over the lists", _overall(known, chosen))
    items = [[entry.item for entry in entries] for entries in built.lists]
    yield info("most uses of a word in one list", _most(items, _lemmas))
    yield info("most meetings of two words in one list", _most(items, _pairs))


def _frame(item: Item) -> Frame:
    return Frame(item.template, item.frame, lemmas_of(item.frame))


def _frames(square: SquareContents, template: str) -> list[Frame]:
    items = (entry.item for entry in square.entries)
    return list(dict.fromkeys(_frame(item) for item in items if item.template == template))


def _shares_text(squares: Sequence[SquareContents]) -> str:
    each = {square.templates: square for square in squares}.values()
    sizes = Counter((square.n_frames, len(square.templates)) for square in each)
    return ", ".join(
        f"{n} x {frames}" + (f" from {templates} templates" if templates > 1 else "")
        for (frames, templates), n in sorted(sizes.items())
    )


def _shares(squares: Sequence[SquareContents]) -> Iterator[str]:
    for square in squares:
        for template in square.templates:
            number = len(_frames(square, template))
            if number * len(square.templates) != square.n_frames:
                yield f"{' '.join((template, *square.levels.values()))}: {number}"


def _uneven(design: Design, known: Frames, chosen: Frames) -> Iterator[str]:
    joint = {
        frame: joint_choices(frame, design.disjoint)
        for frames in chosen.values()
        for frame in frames
    }
    for template, frames in chosen.items():
        candidates = {
            frame: joint_choices(frame, design.disjoint) for frame in [*frames, *known[template]]
        }
        elsewhere = (choices for frame, choices in joint.items() if frame.template != template)
        if exchange := better_exchange(frames, candidates, frozenset().union(*elsewhere)):
            differences = slot_differences(frames, known[template])
            apart = ", ".join(f"{slot} {n}" for slot, n in differences.items() if n > 1)
            yield f'{template}: {apart}; "{exchange[1].text}" for "{exchange[0].text}" is better'


def _shared_choices(design: Design, chosen: Frames) -> Iterator[str]:
    owners: dict[Joint, list[Frame]] = {}
    for frame in (frame for frames in chosen.values() for frame in frames):
        for choice in joint_choices(frame, design.disjoint):
            owners.setdefault(choice, []).append(frame)
    for (_, lemmas), frames in owners.items():
        if len(frames) > 1:
            yield f"{' '.join(lemmas)}: {', '.join(frame.template for frame in frames)}"


def _overall(known: Frames, chosen: Frames) -> str:
    """Return the frames that use a word, where words that could replace each other differ most.

    Words are interchangeable when they fill the same slot in the same templates.
    """
    fillers: dict[tuple[str, str], set[str]] = {}
    for frame in (frame for frames in known.values() for frame in frames):
        for word in frame.lemmas.items():
            fillers.setdefault(word, set()).add(frame.template)
    uses = Counter(w for frames in chosen.values() for f in frames for w in f.lemmas.items())
    groups: dict[tuple[str, frozenset[str]], list[int]] = {}
    for (slot, lemma), templates in fillers.items():
        groups.setdefault((slot, frozenset(templates)), []).append(uses[slot, lemma])
    ranges = [(max(group) - min(group), slot, group) for (slot, _), group in groups.items()]
    if not ranges:
        return "none"
    _, slot, group = max(ranges)
    return f"{min(group)} to {max(group)} frames in the most uneven slot ({slot})"


def _most(lists: Sequence[Sequence[Item]], words_of: Callable[[Item], list[str]]) -> str:
    counts = Counter(
        (words, number)
        for number, items in enumerate(lists)
        for item in items
        for words in words_of(item)
    )
    for (words, number), n in counts.most_common(1):
        return f"{n} ({words}, list {number})"
    return "none"


def _lemmas(item: Item) -> list[str]:
    return list(lemmas_of(item.frame).values())


def _pairs(item: Item) -> list[str]:
    return [" + ".join(pair) for pair in combinations(sorted(_lemmas(item)), 2)]
