"""The items to score: those of a study or file, all of them or only the judged ones."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Self

from analysis.data.frames import read_exported_table
from analysis.errors import AnalysisError
from analysis.scores.raw_texts import RawTexts, read_raw_texts
from experiment.materials.formats.files import is_materials, materials_files, open_materials
from experiment.materials.formats.options import find_further_options
from experiment.materials.read import load_items, materials_hash
from experiment.materials.render import (
    as_written,
    note_on_changes,
    render,
    split_lower_case_tokens,
    split_tokens,
)
from experiment.records import Item, Variant
from experiment.responses.registry import response_of
from experiment.studies.load import load_study
from experiment.tables.schemas import RESPONSES
from lm.scorer import HasSubwords, Scorer

WORD_TOKENS, AS_WRITTEN = "lower_case_tokens", "as_written"
# A file's texts get no full stop that they do not have.
_FILE_RENDERING = "split_lower_case_tokens"

Progress = Callable[[Iterator[Item]], Iterator[Item]]


def _read_no_texts() -> None:
    """Return nothing: a study's items come from its grammar or its own table."""


@dataclass(frozen=True, slots=True)
class Materials:
    """Items that can be iterated repeatedly without loading all into memory.

    Attributes:
        items: Starts an iteration over the items.
        study: The study's name; empty for a file.
        version: The study's version; empty for a file.
        rendering: The rendering for word-level models.
        hash: The hash of all items, whether selected for scoring or not.
        n_items: The number of items to score.
        n_versions: The number of their versions.
        selection: The selection of items, in words; empty for all.
        cased_rendering: The rendering for word-level models with capital letters.
        running_rendering: The rendering for models that tokenise running text themselves.
        notes: Decisions made while reading, in sentences.
        raw_texts: Reads the texts of the file a second time; None without a file of texts.
        changes: Each text of a file that the rendering has changed, before and after.
        further: The items' own columns that hold options beside good, bad and distractor.
    """

    items: Callable[[], Iterator[Item]]
    study: str
    version: str
    rendering: str
    hash: str
    n_items: int
    n_versions: int
    selection: str = ""
    cased_rendering: str = AS_WRITTEN
    running_rendering: str = AS_WRITTEN
    notes: tuple[str, ...] = ()
    raw_texts: Callable[[], RawTexts | None] = field(default=_read_no_texts, compare=False)
    changes: list[tuple[str, str]] = field(default_factory=list, compare=False)
    further: tuple[str, ...] = ()

    def given_to(self, scorer: Scorer) -> Self:
        """Return the same items in the rendering that fits the model."""
        rendering = self.rendering
        if isinstance(scorer, HasSubwords):
            rendering = self.running_rendering
        elif getattr(scorer, "cased", False):
            rendering = self.cased_rendering
        return replace(self, rendering=rendering, changes=[])

    def lack_capitals(self) -> bool:
        """Return whether the model reads no capital letter, in a script that has them."""
        change = render(self.rendering)
        texts = (change(f"{item.context} {item.good}") for item in self.items())
        are_cased = False
        for text in texts:
            if text != text.lower():
                return False
            are_cased |= text != text.upper()
        return are_cased

    def noting(self, rendering_function: Callable[[str], str]) -> Callable[[str], str]:
        """Return a rendering that also records each changed text and its result in ``changes``."""

        def noted(text: str) -> str:
            rendered = rendering_function(text)
            if rendered != text:
                self.changes.append((text, rendered))
            return rendered

        return noted

    def rendering_notes(self) -> list[str]:
        """Return a note on how many of a file's texts the rendering changed, with examples."""
        changed = [] if self.study else [*dict.fromkeys(self.changes)]
        return note_on_changes(changed, f"The model reads texts as {self.rendering}")


def choose_text_rendering(scorer: Scorer) -> Callable[[str], str]:
    """Return the rendering for a model of texts as people read them.

    A model's own tokenizer divides them. For other models marks are words, and all letters are
    small unless the model has words with capitals.
    """
    if isinstance(scorer, HasSubwords):
        return as_written
    return split_tokens if getattr(scorer, "cased", False) else split_lower_case_tokens


def find_materials(
    study_or_items: str, rendering: str | None = None, progress: Progress = lambda items: items
) -> Materials:
    """Return the items of a built-in study, a study folder, or a file or folder of items.

    Args:
        study_or_items: The study, or the file in any format that
            ``experiment.materials.formats`` reads.
        rendering: A rendering for every model that replaces the study's.
        progress: Wraps the first iteration over the items, to show progress.

    Raises:
        ParallaxError: The study or file does not exist, or is invalid.
    """
    notes: tuple[str, ...] = ()
    raw_texts: Callable[[], RawTexts | None] = _read_no_texts
    if is_materials(study_or_items):
        materials_file = open_materials(Path(study_or_items))
        items, notes, named_as = materials_file.items, materials_file.notes, ("", "")
        raw_texts = partial(
            read_raw_texts, Path(study_or_items), materials_files(Path(study_or_items))
        )
        renderings = _FILE_RENDERING, AS_WRITTEN, materials_file.rendering or AS_WRITTEN
        first = next(items(), None)
        further = find_further_options(dict(first.extra)) if first else ()
    else:
        study = load_study(study_or_items)
        model_rendering = study.materials.given_to_models
        renderings = model_rendering, model_rendering, study.materials.shown_to_people
        named_as, items = (study.name, study.study.version), partial(load_items, study)
        against = getattr(response_of(study, own_code=False), "against", ())
        further = tuple(name for name in against if name not in set(Variant))
    tokens, cased, text = (rendering or usual for usual in renderings)
    count = _CountingItems(progress(items()), further)
    hash_ = materials_hash(count)
    return Materials(
        items,
        *named_as,
        tokens,
        hash_,
        count.n_items,
        count.n_versions,
        cased_rendering=cased,
        running_rendering=text,
        notes=notes,
        raw_texts=raw_texts,
        further=further,
    )


class _CountingItems:
    """Items that are counted during iteration."""

    def __init__(self, items: Iterator[Item], further: Sequence[str]) -> None:
        self._items, self.n_items, self.n_versions = items, 0, 0
        self._further = further

    def __iter__(self) -> Iterator[Item]:
        for item in self._items:
            self.n_items += 1
            self.n_versions += 1 + bool(item.bad) + bool(item.distractor)
            self.n_versions += sum(bool(item.version(name)) for name in self._further)
            yield item


def select_judged(materials: Materials, export: Path) -> Materials:
    """Return the items that were judged in an exported run.

    Args:
        materials: All items.
        export: The run's export folder.

    Raises:
        AnalysisError: No item was judged, or a judged item is not among the items.
        TableError: The export has no table of responses.
    """
    judged_ids = {
        str(item_id) for item_id in read_exported_table(RESPONSES, export, ("item_id",))["item_id"]
    }
    judged_items = (item for item in materials.items() if item.item_id in judged_ids)
    count = _CountingItems(judged_items, materials.further)
    material_ids = {item.item_id for item in count}
    if not judged_ids or (unknown := sorted(judged_ids - material_ids)):
        raise AnalysisError(
            f"{len(unknown)} judged item(s) are not among the materials; the first: {unknown[0]}"
            if judged_ids
            else "this run has no judgments",
            where=str(export),
            expected="an export of a run of these materials",
        )
    digest = hashlib.sha256("\n".join(sorted(judged_ids)).encode()).hexdigest()
    return replace(
        materials,
        items=lambda: (item for item in materials.items() if item.item_id in judged_ids),
        n_items=count.n_items,
        n_versions=count.n_versions,
        selection=f"{len(material_ids)} judged items ({digest[:12]})",
    )
