"""Frames that share words, drawn in pairs so that every word is used as often as before.

Chance first chooses a template's frames as for any lists, and puts them in pairs. The two frames of
a pair can exchange words of a slot: each exchange leaves the uses of all words as they were. Models
may differ on the frames of one exchange and agree on those of another, so that one exchange of each
pair is drawn by its probability. An exchange is possible if the materials have its frames, and no
other pair could have one of them, or a joint choice that ``design.disjoint`` allows once.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations

from experiment.design.frames import (
    Frame,
    Joint,
    MaterialsIndex,
    choose_frames,
    find_dependence,
    joint_choices,
)
from experiment.seeds import generator
from experiment.studies.design import Design

# The frames of each exchange of a pair, the pair itself first; a frame may be alone.
Exchanges = list[tuple[str, ...]]


def pair_frames(design: Design, index: MaterialsIndex, seed: int) -> dict[str, list[Exchanges]]:
    """Return the pairs of each template whose frames cannot be drawn one by one.

    Raises:
        DesignError: A template has too few frames.
    """
    chosen = {
        template: frames
        for square, by_template in zip(
            design.squares, choose_frames(design, index, seed), strict=True
        )
        for template, frames in zip(square.templates, by_template, strict=True)
    }
    taken: set[Joint] = set()
    for frame in chain.from_iterable(chosen.values()):
        taken |= joint_choices(frame, design.disjoint)
    pairs = {}
    for template, frames in chosen.items():
        candidates = {
            frame: joint_choices(frame, design.disjoint) for frame in index.frames(template)
        }
        if find_dependence(candidates):
            generator(seed, "pairs", template).shuffle(frames)
            pairs[template] = _find_exchanges(frames, candidates, taken)
    return pairs


def _find_exchanges(
    frames: Sequence[Frame], candidates: Mapping[Frame, frozenset[Joint]], taken: set[Joint]
) -> list[Exchanges]:
    """Return the exchanges of successive pairs, and add their joint choices to those taken."""
    by_text = {frame.text: joints for frame, joints in candidates.items()}
    reserved, pairs = {frame.text for frame in frames}, []
    for start in range(0, len(frames), 2):
        pair = frames[start : start + 2]
        exchanges = [tuple(frame.text for frame in pair)]
        own = {joint for text in exchanges[0] for joint in by_text[text]}
        for texts in _exchange_words(*pair) if len(pair) > 1 else ():
            joints = {joint for text in texts for joint in by_text.get(text, ())}
            if by_text.keys() >= set(texts) and not (reserved & set(texts) or joints & taken - own):
                exchanges.append(texts)
                own |= joints
        reserved.update(chain.from_iterable(exchanges))
        taken |= own
        pairs.append(exchanges)
    return pairs


def _exchange_words(first: Frame, second: Frame) -> Iterator[tuple[str, str]]:
    """Yield both frames after each exchange of the words of some slots."""
    differing = [slot for slot, lemma in first.lemmas.items() if second.lemmas[slot] != lemma]
    # Exchanging all slots gives the same two frames: one slot stays.
    free = differing[1:]
    for slots in chain.from_iterable(combinations(free, n) for n in range(1, len(free) + 1)):
        moved = set(slots)
        yield _write(first.lemmas, second.lemmas, moved), _write(second.lemmas, first.lemmas, moved)


def _write(own: Mapping[str, str], other: Mapping[str, str], moved: set[str]) -> str:
    return " ".join(f"{slot}={(other if slot in moved else own)[slot]}" for slot in own)
