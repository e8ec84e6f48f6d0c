"""Checks of pictures in items, and of the block that people and programs answer differently."""

from collections.abc import Iterator
from operator import attrgetter

from experiment.authoring.findings import Examined
from experiment.errors import ParallaxError, StudyError, StudyNote
from experiment.integrity.humanness import rates_of
from experiment.materials.pictures import LIKE_A_PICTURE, PICTURE
from experiment.records import Item, Variant
from experiment.responses.registry import RESPONSE_TYPES, response_class, response_of
from experiment.studies.humanness import Rates

# A CSV cell has at most 131,072 letters for Python's own reader; base64 takes four for three bytes.
_MOST_LETTERS = 130_000
_TEXTS = attrgetter("context", *Variant)


def pictures(examined: Examined) -> Iterator[ParallaxError]:
    """Yield the first item whose picture no page would show."""
    # Most studies have none, and may have a hundred thousand items: the sign is looked for first.
    shown = (
        item
        for item in examined.items
        if "![" in "".join(_texts(item)) and any(map(LIKE_A_PICTURE.search, _texts(item)))
    )
    for item in shown:
        problem, expected = _unshown(item, examined)
        if problem:
            where = examined.place_of(item) or examined.at("materials")
            yield StudyError(f'the item "{item.item_id}" {problem}', where=where, expected=expected)
            return


def _texts(item: Item) -> tuple[str, ...]:
    found: tuple[str, ...] = _TEXTS(item)
    return found


def _unshown(item: Item, examined: Examined) -> tuple[str, str]:
    study = examined.study
    if any(map(LIKE_A_PICTURE.search, _texts(item)[1:])):
        return "has a picture in one of its versions", "a picture in the column context"
    own = response_of(study).of_item(item)
    if not own.has_context_above:
        types = [name for name in RESPONSE_TYPES.built_in if response_class(name).has_context_above]
        return (
            f"has a picture, and its trials are of the type {own.name}",
            f"a picture where the context stands above the answers: {', '.join(types)}",
        )
    if study.materials.shown_to_people != "as_written":
        return (
            f'has a picture, and texts are rendered "{study.materials.shown_to_people}"',
            'materials.shown_to_people = "as_written", which changes no letter of it',
        )
    if LIKE_A_PICTURE.search(PICTURE.sub("", item.context)):
        return (
            "has a picture that lies elsewhere, or whose bytes cannot be read",
            "the picture's bytes in its address: ![what it shows](data:image/png;base64,...)",
        )
    if len(item.context) > _MOST_LETTERS:
        return (
            f"has a context of {len(item.context):,} letters with its picture",
            f"at most {_MOST_LETTERS:,}: a picture of up to 95 kB",
        )
    if any(not found[1].strip() for found in PICTURE.finditer(item.context)):
        return (
            "has a picture without a word for those who do not see it",
            "what it shows, between the brackets: ![two lines](data:...)",
        )
    return "", ""


def humanness(examined: Examined) -> Iterator[ParallaxError]:
    """Yield a block that no item is of, and rates of items that are not there."""
    block = examined.study.humanness
    if block is None:
        return
    known = {item.construction for item in examined.items}
    for number, name in enumerate(block.constructions):
        if known and name not in known:
            yield StudyError(
                f'there is no item of the construction "{name}"',
                where=examined.at("humanness", "constructions", number),
                expected=f"one of: {', '.join(sorted(known))}",
            )
    rates = rates_of(examined.study)
    if rates is None:
        yield StudyNote(
            "the block has no published rates: its trials are scored, and nothing follows about "
            "who answered",
            where=examined.at("humanness"),
            expected='rates = "FILE.toml", or nothing where there are none (docs/humanness.md)',
        )
        return
    yield from _unknown_items(examined, rates, set(block.constructions))


def _unknown_items(
    examined: Examined, rates: Rates, constructions: set[str]
) -> Iterator[ParallaxError]:
    of_block = {item.item_id for item in examined.items if item.construction in constructions}
    for rate in rates.items:
        if of_block and rate.item not in of_block:
            yield StudyError(
                f'rates are given of "{rate.item}", which is no item of the block',
                where=examined.name_of(examined.study.humanness.rates),  # type: ignore[union-attr]
                expected=f"one of: {', '.join(sorted(of_block))}",
            )
            return
