"""The materials as the design sees them: templates, their frames, their conditions."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from experiment.errors import DesignError
from experiment.materials.identity import materials_hash
from experiment.plugins import unknown_name
from experiment.records import Item


@dataclass(frozen=True, slots=True)
class Frame:
    """The lexical choices that the items of one frame share.

    Attributes:
        template: The template they fill.
        text: The frame as the items carry it.
        lemmas: Slot to lemma.
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
        """Return the conditions that templates share, in order of first appearance.

        Raises:
            UnknownNameError: The materials have no such template.
            DesignError: The templates differ in their conditions.
        """
        found = {template: self._conditions_of(template) for template in templates}
        (first, conditions), *others = found.items()
        for template, other in others:
            if set(other) != set(conditions):
                raise DesignError(
                    f'the template "{template}" has the conditions {", ".join(other)}, but '
                    f'"{first}" has {", ".join(conditions)}',
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
            UnknownNameError: The materials have no such template.
        """
        found = []
        for template in templates:
            self._conditions_of(template)
            found += [item for items in self.items[template].values() for item in items.values()]
        return found

    def item(self, frame: Frame, condition: str) -> Item:
        """Return the item of a frame in a condition."""
        return self.items[frame.template][frame.text][condition]


def lemmas_of(frame: str) -> dict[str, str]:
    """Return the slots and lemmas of a frame written ``SLOT=lemma SLOT=lemma``."""
    pairs = (pair.rpartition("=") for pair in frame.split())
    return {slot: lemma for slot, _, lemma in pairs}


def index_materials(items: Iterable[Item] | MaterialsIndex) -> MaterialsIndex:
    """Sort the materials by template, frame and condition; the items are consumed once.

    What is sorted already stays as it is.

    Raises:
        DesignError: Two items are the same frame in the same condition.
    """
    if isinstance(items, MaterialsIndex):
        return items
    sorted_items: dict[str, dict[str, dict[str, Item]]] = {}
    identity = materials_hash(_sorting(items, sorted_items))
    return MaterialsIndex(sorted_items, identity)


def _sorting(items: Iterable[Item], into: dict[str, dict[str, dict[str, Item]]]) -> Iterator[Item]:
    for item in items:
        cell = into.setdefault(item.template, {}).setdefault(item.frame, {})
        other = cell.setdefault(item.condition, item)
        if other is not item:
            raise DesignError(
                f'the items "{other.item_id}" and "{item.item_id}" have the same frame '
                f'and condition ("{item.frame}", "{item.condition}")',
                where=f'the template "{item.template}"',
                expected="only one item for each frame and condition",
            )
        yield item
