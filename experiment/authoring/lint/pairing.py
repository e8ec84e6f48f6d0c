"""Lints for duplicate items, and for versions that do not belong together."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from statistics import median

from experiment.authoring.lint.materials import Fault, Materials, letters, normalise, words
from experiment.records import Item

# If this share of items has a property, the study is about that property.
_DESIGN = 0.5
_FEWEST_ITEMS = 4
_PAIR, _FEWEST_WORDS = 2, 3
# At most this many items of a construction are compared with each other.
_MOST_COMPARED = 400
# An exchange must bring the versions of two items closer by at least this many words.
_NEARER = 2


def lint_same_versions(materials: Materials) -> Iterator[Fault]:
    """Report items whose versions look the same, or differ only in case or in punctuation."""
    levels = (
        ("in nothing that can be seen", normalise, True),
        ("in capitals alone", lambda text: normalise(text).casefold(), False),
        ("in punctuation alone", letters, False),
    )
    seen_items: set[str] = set()
    for likeness, form, fatal in levels:
        identical_items = []
        for item in materials.paired:
            texts = materials.versions(item)
            if item.item_id not in seen_items and len({*map(form, texts)}) < len({*texts}):
                identical_items.append(item)
        seen_items.update(item.item_id for item in identical_items)
        if identical_items and (fatal or len(identical_items) <= _DESIGN * len(materials.paired)):
            good, *others = materials.versions(identical_items[0])
            yield Fault(
                "versions that are the same",
                tuple(identical_items),
                f'has versions that differ {likeness}: "{good}", "{others[0]}"',
                "Write the version that was meant, or leave the item out",
                fatal,
            )


def lint_duplicates(materials: Materials) -> Iterator[Fault]:
    """Report items that duplicate another item, and conditions that are identical."""
    cells: dict[tuple[str, ...], list[Item]] = defaultdict(list)
    frames = {(item.construction, item.frame) for item in materials.items}
    similar_pairs: list[tuple[Item, Item]] = []
    identical_pairs: list[tuple[Item, Item]] = []
    for item in materials.items:
        key = (letters(item.context), *map(letters, materials.versions(item)))
        for other in cells[key][:1]:
            of_one = (other.construction, other.frame) == (item.construction, item.frame)
            (similar_pairs if of_one else identical_pairs).append((other, item))
        cells[key].append(item)
    # Pairs that one participant would see come first.
    identical_pairs.sort(key=lambda pair: not _find_shared_list(materials, *pair))
    if identical_pairs:
        first, second = identical_pairs[0]
        yield Fault(
            "the same item twice",
            (first, *(second for _, second in identical_pairs)),
            f'shows the same texts as the item "{second.item_id}": "{first.good}"'
            f"{_find_shared_list(materials, first, second)}",
            "Keep one of them, or write the sentences that were meant",
        )
    of_all = Counter(construction for construction, _ in frames)
    of_alike = Counter({(item.construction, item.frame): item.construction
                        for _, item in similar_pairs}.values())  # fmt: skip
    # If most frames of a construction have the property (such as a comma), the construction is
    # about that property.
    differing = [
        pair for pair in similar_pairs
        if of_alike[pair[1].construction] <= _DESIGN * of_all[pair[1].construction]
    ]  # fmt: skip
    if differing:
        first, second = differing[0]
        yield Fault(
            "two conditions that are the same",
            tuple(second for _, second in differing),
            f'shows the same texts in the conditions "{first.condition}" and '
            f'"{second.condition}": "{first.good}"',
            "Write the sentence of each condition",
        )


def _find_shared_list(materials: Materials, one: Item, other: Item) -> str:
    item_ids = {one.item_id, other.item_id}
    for number, items in enumerate(materials.items_by_list):
        if item_ids <= {item.item_id for item in items}:
            return f", and participants of list {number} would see both"
    return ""


def lint_contradictions(materials: Materials) -> Iterator[Fault]:
    """Report pairs whose good and other versions are swapped in another item."""
    items_by_texts = {
        (letters(item.context), *map(normalise, materials.versions(item))): item
        for item in materials.paired
    }
    for (context, *texts), item in items_by_texts.items():
        other = items_by_texts.get((context, *reversed(texts)))
        if other is not None and item.item_id < other.item_id and len(texts) > 1:
            yield Fault(
                "good in one item, bad in another",
                (item, other),
                f'has "{item.good}" as the good version, and the item "{other.item_id}" has it as '
                "the other one",
                "Swap the versions of one of them, or remove it",
            )


def lint_exchanged_versions(materials: Materials) -> Iterator[Fault]:
    """Report items whose other version belongs to another item: exchanged, copied or shifted."""
    for group in materials.groups(lambda item: item.construction).values():
        if len(group) < _FEWEST_ITEMS or any(_is_too_short(materials, item) for item in group):
            continue
        texts = [tuple(map(words, materials.versions(item))) for item in group]
        bags = [(Counter(good), Counter(bad)) for good, bad in texts]
        distances = [_count_differing_words(*bag) for bag in bags]
        if shifted := _count_shifted(bags, distances):
            good, bad = materials.versions(group[0])
            yield Fault(
                "versions of other items",
                (group[0],),
                f"and {shifted - 1} more of {group[0].construction} have a version that fits "
                f'another item better: "{good}", "{bad}"',
                "Check whether a column was shifted, or sorted without the others",
            )
        else:
            yield from _find_exchanged(materials, group, bags, distances)
            yield from _find_copied(materials, group, distances)


def _is_too_short(materials: Materials, item: Item) -> bool:
    """Return whether an item's words are too few to tell whether its versions belong together."""
    texts = materials.versions(item)
    return bool(item.context) or len(texts) > _PAIR or len(item.good.split()) < _FEWEST_WORDS


_WordBags = Sequence[tuple[Counter[str], Counter[str]]]


def _count_differing_words(words: Counter[str], other_words: Counter[str]) -> int:
    return sum((words - other_words).values()) + sum((other_words - words).values())


def _count_shifted(bags: _WordBags, distances: Sequence[int]) -> int:
    """Return how many items' other versions fit another item better, if most do; otherwise 0."""
    compared_bags = bags[:_MOST_COMPARED]
    fit = [
        any(
            _count_differing_words(good, bad) + _NEARER <= distances[number]
            for other, (good, _) in enumerate(compared_bags)
            if other != number
        )
        for number, (_, bad) in enumerate(compared_bags[:30])
    ]
    return sum(fit) if sum(fit) > _DESIGN * len(fit) else 0


def _find_exchanged(
    materials: Materials, group: Sequence[Item], bags: _WordBags, distances: Sequence[int]
) -> Iterator[Fault]:
    usual = median(distances)
    distant = [number for number, apart in enumerate(distances) if apart > usual][:_MOST_COMPARED]
    for at, index in enumerate(distant):
        for other in distant[at + 1 :]:
            crossed = _count_differing_words(
                bags[index][0], bags[other][1]
            ) + _count_differing_words(bags[other][0], bags[index][1])
            if crossed + _NEARER <= distances[index] + distances[other] and crossed <= 2 * usual:
                good, bad = materials.versions(group[index])
                yield Fault(
                    "versions of other items",
                    (group[index], group[other]),
                    f'and the item "{group[other].item_id}" seem to have each other\'s version: '
                    f'"{good}", "{bad}"',
                    "Swap them, or correct the row",
                )


def _find_copied(
    materials: Materials, group: Sequence[Item], distances: Sequence[int]
) -> Iterator[Fault]:
    """Report items of one condition that share a bad version which fits only one of them."""
    cells: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, item in enumerate(group):
        cells[item.condition, letters(materials.versions(item)[1])].append(number)
    usual = median(distances)
    for numbers in cells.values():
        items = [group[number] for number in numbers]
        differ = len({letters(item.good) for item in items}) > 1
        if differ and max(distances[number] for number in numbers) >= usual + _NEARER:
            yield Fault(
                "the same version in two items",
                tuple(items),
                f'has the same second version as the item "{items[1].item_id}": '
                f'"{materials.versions(items[0])[1]}"',
                "Write the version that belongs to each",
            )
