"""From a grammar to its items: every frame in every condition, streamed in a fixed order."""

from collections.abc import Iterator
from itertools import count, product

from experiment.errors import MaterialsError
from experiment.materials.grammar import Grammar
from experiment.materials.notation.templates import Template
from experiment.records import Item


def generate(grammar: Grammar) -> Iterator[Item]:
    """Yield every item: template by template, frame by frame, the conditions inside.

    Frames come in the order of the lexicons' entries, the last slot varying fastest.

    Raises:
        MaterialsError: Two versions of an item are the same sentence.
    """
    for template in grammar.templates:
        yield from _items(template)


def _items(template: Template) -> Iterator[Item]:
    numbers = count(1)
    for frame, entries in _frames(template):
        for cell in template.cells:
            item = Item(
                f"{template.name}-{next(numbers)}",
                template.kind,
                template.construction,
                cell.condition,
                template.name,
                cell.features,
                frame,
                "",
                cell.good.format(*entries),
                cell.bad.format(*entries),
                cell.distractor.format(*entries),
                template.contrast,
            )
            if item.good in (item.bad, item.distractor):
                raise _same_versions(template, item)
            yield item


def _frames(template: Template) -> Iterator[tuple[str, tuple[tuple[str, ...], ...]]]:
    """Yield each frame's name with the entries that fill the slots."""
    choices = [
        [(f"{slot}={entry[0].replace(' ', '_')}", entry) for entry in lexicon.entries]
        for slot, lexicon in template.slots.items()
    ]
    for chosen in product(*choices):
        names, entries = zip(*chosen, strict=True)
        if all(len({entries[i] for i in group}) == len(group) for group in template.distinct):
            yield " ".join(names), entries


def _same_versions(template: Template, item: Item) -> MaterialsError:
    return MaterialsError(
        f'template "{template.name}" (construction "{template.construction}"): the good and '
        f'another version are both "{item.good}" in the frame {item.frame} ({item.features})',
        where=template.where,
        remedy="Change the entry whose forms are spelt the same, or the pattern",
    )
