"""Choosing the frames of the squares: every word about equally often, no near-repetitions."""

import random
from collections import Counter
from collections.abc import Sequence, Set

from experiment.design.materials_index import Frame, MaterialsIndex
from experiment.errors import DesignError
from experiment.seeds import generator
from experiment.studies.design import Design, Disjoint, Square

Joint = tuple[int, tuple[str, ...]]
Uses = Counter[tuple[str, str]]


def frames_in(square: Square, design: Design) -> int:
    """Return the number of frames of a square: as stated, or one for each list."""
    return square.frames or design.lists


def joint_choices(frame: Frame, groups: Sequence[Disjoint]) -> frozenset[Joint]:
    """Return the joint choices that no other frame may share: (group, the slots' lemmas).

    Raises:
        DesignError: The frame lacks a slot that its group names.
    """
    found = set()
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
            found.add((number, tuple(frame.lemmas[slot] for slot in group.slots)))
    return frozenset(found)


def choose_frames(design: Design, index: MaterialsIndex, seed: int) -> list[list[list[Frame]]]:
    """Return, for each square, the frames chosen from each of its templates.

    Within a template, the uses of a slot's lemmas differ by at most one where the materials
    allow, and over the templates they come out about equal; within a group of
    ``design.disjoint``, no two frames share their joint choice.

    Raises:
        DesignError: A template has too few frames.
    """
    taken, overall = set[Joint](), Uses()
    squares = []
    for square in design.squares:
        n_frames, chosen = frames_in(square, design) // len(square.templates), []
        for template in square.templates:
            rng = generator(seed, "frames", template)
            candidates = {
                frame: joint_choices(frame, design.disjoint) for frame in index.frames(template)
            }
            frames = _choose(candidates, n_frames, taken, overall, rng)
            if len(frames) < n_frames:
                raise _too_few(template, n_frames, len(frames), len(candidates))
            for frame in frames:
                taken |= candidates[frame]
                overall.update(frame.lemmas.items())
            chosen.append(frames)
        squares.append(chosen)
    return squares


def _choose(
    candidates: dict[Frame, frozenset[Joint]],
    n_frames: int,
    taken: Set[Joint],
    overall: Uses,
    rng: random.Random,
) -> list[Frame]:
    chosen: list[Frame] = []
    used, counts = set(taken), Uses()
    pool = dict(candidates)
    while len(chosen) < n_frames:
        pool = {frame: joint for frame, joint in pool.items() if joint.isdisjoint(used)}
        if not pool:
            break
        frame = _least_used(list(pool), counts, overall, rng)
        chosen.append(frame)
        used |= pool.pop(frame)
        counts.update(frame.lemmas.items())
    while exchange := better_exchange(chosen, candidates, taken):
        out, in_ = exchange
        chosen[chosen.index(out)] = in_
    return chosen


def _least_used(frames: list[Frame], counts: Uses, overall: Uses, rng: random.Random) -> Frame:
    # Narrowing slot by slot finds a frame of least-used lemmas without scoring every frame;
    # a random order of the slots favours none of them. What the other templates used decides
    # between lemmas that this one used equally often.
    slots = list(frames[0].lemmas)
    rng.shuffle(slots)
    for slot in slots:
        words = [(slot, frame.lemmas.get(slot, "")) for frame in frames]
        uses = [(counts[word], overall[word]) for word in words]
        least = min(uses)
        frames = [frame for frame, n in zip(frames, uses, strict=True) if n == least]
    return rng.choice(frames)


def slot_differences(chosen: Sequence[Frame], candidates: Sequence[Frame]) -> dict[str, int]:
    """Return by how much the uses of each slot's lemmas differ, unused lemmas included."""
    known = {pair for frame in candidates for pair in frame.lemmas.items()}
    counts = Counter(pair for frame in chosen for pair in frame.lemmas.items())
    by_slot: dict[str, list[int]] = {}
    for slot, lemma in sorted(known):
        by_slot.setdefault(slot, []).append(counts[slot, lemma])
    return {slot: max(uses) - min(uses) for slot, uses in by_slot.items()}


def better_exchange(
    chosen: Sequence[Frame], candidates: dict[Frame, frozenset[Joint]], taken: Set[Joint]
) -> tuple[Frame, Frame] | None:
    """Return a chosen frame and another to take its place so that uses get more even.

    Evenness is the sum over lemmas of the squared number of uses, which is least when the uses
    of a slot's lemmas differ by at most one.

    Args:
        chosen: The frames chosen from a template.
        candidates: All frames of the template, with their joint choices.
        taken: The joint choices of other templates' frames.

    Returns:
        The frame to take out and the frame to put in; None when no exchange helps or when the
        uses differ by at most one already.
    """
    if max(slot_differences(chosen, list(candidates)).values(), default=0) <= 1:
        return None
    counts = Counter(pair for frame in chosen for pair in frame.lemmas.items())
    others = {frame: joint for frame, joint in candidates.items() if frame not in chosen}
    for out in chosen:
        used = set(taken).union(*(candidates[frame] for frame in chosen if frame is not out))
        for in_, joint in others.items():
            if joint.isdisjoint(used) and _gain(out, in_, counts) > 0:
                return out, in_
    return None


def _gain(out: Frame, in_: Frame, counts: Uses) -> int:
    leaving = out.lemmas.items() - in_.lemmas.items()
    entering = in_.lemmas.items() - out.lemmas.items()
    return sum(counts[pair] - 1 for pair in leaving) - sum(counts[pair] for pair in entering)


def _too_few(template: str, wanted: int, found: int, n_candidates: int) -> DesignError:
    return DesignError(
        f"{wanted} frames are needed, but only {found} can be chosen from {n_candidates}",
        where=f'the template "{template}"',
        expected=(
            f"{wanted} frames that have an item in every condition, none with the same words "
            "in the slots that design.disjoint keeps apart"
        ),
        remedy="Add lexical choices to the materials or ask for fewer frames",
    )
