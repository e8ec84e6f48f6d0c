"""The items to score: a study's or a file's, all of them or those that people judged."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from analysis.errors import AnalysisError
from analysis.frames import read_exported
from experiment.materials.identity import materials_hash
from experiment.materials.read import load_items, read_items
from experiment.records import Item
from experiment.schemas import RESPONSES
from experiment.studies.load import load_study
from experiment.tables import FORMATS

WORD_TOKENS = "lower_case_tokens"

Shown = Callable[[Iterator[Item]], Iterator[Item]]


@dataclass(frozen=True, slots=True)
class Materials:
    """Items that can be gone through again and again without ever being held.

    Attributes:
        items: Begins a passage through them.
        study: The study's name; empty for a file.
        version: The study's version; empty for a file.
        rendering: How they are given to models.
        hash: The identity of all the items, whichever of them are to be scored.
        n_items: How many are to be scored.
        n_versions: How many versions they have together.
        selection: Which of the items these are, in words; empty for all.
    """

    items: Callable[[], Iterator[Item]]
    study: str
    version: str
    rendering: str
    hash: str
    n_items: int
    n_versions: int
    selection: str = ""


def find_materials(
    named: str, rendering: str | None = None, shown: Shown = lambda items: items
) -> Materials:
    """Return the items of a built-in study, a study folder or a file of items.

    Args:
        named: The study or file (.tsv, .csv, .parquet).
        rendering: Another rendering than the study's.
        shown: Wraps the first passage through the items, to show how far it is.

    Raises:
        ParallaxError: There is no such study or file, or it is unsound.
    """
    if named.endswith(FORMATS):
        found = Materials(
            lambda: read_items(Path(named)), "", "", rendering or WORD_TOKENS, "", 0, 0
        )
    else:
        study = load_study(named)
        chosen = rendering or study.materials.given_to_models
        found = Materials(
            lambda: load_items(study), study.name, study.study.version, chosen, "", 0, 0
        )
    count = _Counted(shown(found.items()))
    hash_ = materials_hash(count)
    return replace(found, hash=hash_, n_items=count.n_items, n_versions=count.n_versions)


class _Counted:
    """Items that count themselves as they pass."""

    def __init__(self, items: Iterator[Item]) -> None:
        self._items, self.n_items, self.n_versions = items, 0, 0

    def __iter__(self) -> Iterator[Item]:
        for item in self._items:
            self.n_items += 1
            self.n_versions += 3 if item.distractor else 2
            yield item


def only_judged(materials: Materials, export: Path) -> Materials:
    """Return those of the items that somebody judged in an exported run.

    Args:
        materials: All items.
        export: The run's export folder.

    Raises:
        AnalysisError: Nothing was judged, or a judged item is not among the items.
        TableError: The export has no table of responses.
    """
    judged = {str(item_id) for item_id in read_exported(RESPONSES, export, ("item_id",))["item_id"]}
    count = _Counted(item for item in materials.items() if item.item_id in judged)
    known = {item.item_id for item in count}
    if not judged or (unknown := sorted(judged - known)):
        raise AnalysisError(
            f"{len(unknown)} judged item(s) are not among the materials; the first: {unknown[0]}"
            if judged
            else "nobody judged anything in this run",
            where=str(export),
            expected="an export of a run of these materials",
        )
    digest = hashlib.sha256("\n".join(sorted(judged)).encode()).hexdigest()
    return replace(
        materials,
        items=lambda: (item for item in materials.items() if item.item_id in judged),
        n_items=count.n_items,
        n_versions=count.n_versions,
        selection=f"{len(known)} judged items ({digest[:12]})",
    )
