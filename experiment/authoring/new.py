"""Creation of a complete study folder from a file of items, ready to launch without edits."""

import re
import shutil
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiment.authoring.check import check_folder
from experiment.authoring.derive import DesignPlan, in_blocks, plan_design
from experiment.authoring.lint.lint import faults, report_faults
from experiment.authoring.lint.materials import Materials
from experiment.authoring.study_toml import (
    SCHEMA_FILE,
    comparisons_toml,
    minutes,
    practice_toml,
    schema_text,
    study_toml,
)
from experiment.authoring.words import Asking, ask, is_tag
from experiment.comparisons.planned import planned_comparisons
from experiment.errors import MaterialsError, ParallaxError, StudyError, StudyNote, prefix_location
from experiment.materials.formats.read import Found, read_materials
from experiment.materials.read import item_table, load_items
from experiment.records import Item
from experiment.responses.registry import response_class
from experiment.studies.load import BUILT_IN, load_study
from experiment.studies.study import STUDY_FILE
from experiment.tables.atomic_write import atomic_folder
from experiment.tables.files import write_table

ITEMS_FILE = "items.tsv"
PRACTICE_FILE = "practice.toml"
_SEED = 1
# Common column names for the heading above a construction.
_GROUP_COLUMNS = ("linguistics_term", "field", "group_title")


@dataclass(frozen=True, slots=True)
class NewStudy:
    """The result of creating a study.

    Attributes:
        folder: The study's folder.
        found: The contents of the items file, and what was derived from them.
        asking: The task of the study's trials.
        design: The design that was chosen for the study.
        odd: The oddities of its items.
    """

    folder: Path
    found: Found
    asking: Asking
    design: DesignPlan
    odd: tuple[ParallaxError, ...] = ()


def new_study(
    folder: Path,
    source: Path | None,
    *,
    language: str,
    title: str = "",
    response: str = "",
    named: Mapping[str, str],
    block: str = "",
    columns: Sequence[str] = (),
    sheet: str = "",
) -> NewStudy | None:
    """Write a study folder; if anything is wrong, no folder remains.

    Args:
        folder: The folder to write, which must not exist; its name becomes the study's.
        source: The file of items; None to copy the built-in study ``minimal`` under a new name.
        language: The tag of the items' language.
        title: The title that participants see; empty for the question of the trials.
        response: The response type; empty for the type that suits the items.
        named: Parallax's column name to the source's header, for headers that are not recognised.
        block: The source's column that names the session's block; empty for a single block.
        columns: The names of the source's columns, if it has no headers.
        sheet: The sheet of the source, if it is not its first.

    Returns:
        The result; None if the built-in study was copied.

    Raises:
        StudyError: The folder exists, or its name is not valid for a study.
        MaterialsError: The source cannot be read as items.
        ParallaxError: The items do not make a valid study.
    """
    name = study_name(folder)
    _refuse_existing(folder)
    if source is None:
        _copy_minimal(folder, name)
        return None
    _refuse_unknown(language)
    materials = _read(source, named, response, language, columns, sheet)
    asking = ask(materials, response, language)
    design = _plan(materials.items, asking, source)
    if block:
        design = in_blocks(design, materials.items, block)
    if not design.trials_per_list:
        raise MaterialsError(
            f"there are too few items to fill a list. {' '.join(design.notes)}",
            where=str(source),
            expected=f"at least as many items as conditions: {design.lists}",
        )
    oddities = _find_oddities(materials, asking, design, source, language)
    new = NewStudy(folder, materials, asking, design, oddities)
    with atomic_folder(folder, ()) as temporary:
        _write(new, temporary, title or asking.title, language)
        _refuse_errors(temporary, folder, source)
    return new


def _refuse_existing(folder: Path) -> None:
    if folder.exists():
        raise StudyError(
            "a file or folder of that name already exists",
            where=str(folder),
            expected="a new folder",
            remedy="Choose another name, or remove the old one first",
        )


def _plan(items: Sequence[Item], asking: Asking, source: Path) -> DesignPlan:
    try:
        return plan_design(items, asking.response.balanced_over)
    except MaterialsError as error:
        raise prefix_location(error, str(source)) from error


def _refuse_errors(temporary: Path, folder: Path, source: Path) -> None:
    """Refuse a derived study with errors: these are errors in its items."""
    for error in check_folder(str(temporary), _SEED).errors:
        where = error.where.replace(str(temporary), str(folder))
        located_error = type(error)(
            error.problem, where=where, expected=error.expected, remedy=error.remedy
        )
        raise prefix_location(located_error, str(source))


def _find_oddities(
    found: Found, asking: Asking, design: DesignPlan, source: Path, language: str
) -> tuple[ParallaxError, ...]:
    """Return the oddities that the lints find in the items, located in the source.

    Raises:
        ParallaxError: A fault that prevents a launch.
    """
    against = asking.parameters.get("against", ())
    materials = Materials(
        found.items,
        language,
        tuple(against) if isinstance(against, list | tuple) else (),
        dealt_by=frozenset(given.column for given in design.given),
    )
    errors = list(report_faults(faults(materials), str(source), found.places))
    if refused := next((fault for fault in errors if not isinstance(fault, StudyNote)), None):
        raise refused
    return tuple(errors)


def _read(
    source: Path,
    headers: Mapping[str, str],
    response: str,
    language: str,
    columns: Sequence[str],
    sheet: str,
) -> Found:
    response_type = response_class(response) if response else None
    return read_materials(
        source,
        headers,
        alone=response_type is None or response_type.alone,
        regions=None if response_type is None else response_type.step_table is not None,
        language=language,
        columns=columns,
        sheet=sheet,
    )


def _refuse_unknown(language: str) -> None:
    if not is_tag(language):
        raise StudyError(
            f'"{language}" is not a language tag',
            where="--language",
            expected='a tag of BCP 47, such as "en", "pt-BR" or "zh-Hant"',
        )


def _write(new_folder: NewStudy, into: Path, title: str, language: str) -> None:
    materials, asking, design = new_folder.found, new_folder.asking, new_folder.design
    text = study_toml(
        study_name(new_folder.folder),
        title,
        language,
        ITEMS_FILE,
        materials,
        asking,
        design,
        _group_constructions(materials.items),
        practice=PRACTICE_FILE if materials.practice else "",
    )
    (into / STUDY_FILE).write_text(text, encoding="utf-8", newline="\n")
    (into / SCHEMA_FILE).write_text(schema_text(), encoding="utf-8", newline="\n")
    write_table(*item_table(materials.items), into / ITEMS_FILE)
    if materials.practice:
        text = practice_toml(
            materials.practice,
            columns=asking.response.step_table is not None or asking.response.has_details,
        )
        (into / PRACTICE_FILE).write_text(text, encoding="utf-8", newline="\n")
    _write_texts(into / "texts" / language, asking, design)
    _write_comparisons(into)


def _write_comparisons(folder: Path) -> None:
    """Declare in a new study.toml the comparisons that the design implies."""
    study = load_study(str(folder))
    comparisons = planned_comparisons(study, list(load_items(study)))
    path = folder / STUDY_FILE
    text = path.read_text(encoding="utf-8") + comparisons_toml(comparisons)
    path.write_text(text, encoding="utf-8", newline="\n")


def study_name(folder: Path) -> str:
    """Return the name of a study in this folder.

    Raises:
        StudyError: The folder's name is invalid: letters, digits and underscores, a letter first.
    """
    name = folder.resolve().name
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        near = re.sub(r"[^a-z0-9]+", "_", ascii_name).strip("_")
        near = near if near[:1].isalpha() else f"study_{near}".rstrip("_")
        raise StudyError(
            f'"{name}" cannot name a study',
            expected="lower-case letters, digits and underscores, beginning with a letter",
            remedy=f'Call it "{near}"',
        )
    return name


def _copy_minimal(folder: Path, name: str) -> None:
    shutil.copytree(BUILT_IN / "minimal", folder)
    path = folder / STUDY_FILE
    text = path.read_text(encoding="utf-8").replace('name = "minimal"', f'name = "{name}"')
    path.write_text(f"#:schema ./{SCHEMA_FILE}\n{text}", encoding="utf-8", newline="\n")
    (folder / SCHEMA_FILE).write_text(schema_text(), encoding="utf-8", newline="\n")


def _group_constructions(items: Sequence[Item]) -> dict[str, str]:
    groups: dict[str, str] = {}
    for item in items:
        columns = dict(item.extra)
        group_column = next(
            (columns[column] for column in _GROUP_COLUMNS if columns.get(column)), ""
        )
        groups.setdefault(item.construction, group_column.replace("_", " ").capitalize())
    return groups


def _write_texts(folder: Path, asking: Asking, design: DesignPlan) -> None:
    folder.mkdir(parents=True)
    trials = str(design.trials_per_list)
    words = {
        "task": asking.task.replace("{trials}", trials),
        "result": asking.result,
        "minutes": str(minutes(design.trials_per_list)),
    }
    for page in ("consent", "instructions", "debrief"):
        source = asking.instructions if page == "instructions" else page
        text = asking.words.page(source)
        for key, value in words.items():
            text = text.replace(f"{{{key}}}", value)
        (folder / f"{page}.md").write_text(text, encoding="utf-8", newline="\n")
