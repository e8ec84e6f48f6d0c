"""Creation of a complete study folder from a file of items, ready to launch without edits."""

import re
import shutil
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from experiment.authoring.check import check_folder
from experiment.authoring.derive import DesignPlan, assign_blocks, plan_design
from experiment.authoring.lint.lint import find_faults, report_faults
from experiment.authoring.lint.materials import Materials
from experiment.authoring.study_toml import (
    SCHEMA_FILE,
    comparisons_toml,
    estimate_minutes,
    practice_toml,
    schema_text,
    study_toml,
)
from experiment.authoring.words import StudyTask, choose_task, is_tag
from experiment.comparisons.planned import planned_comparisons
from experiment.errors import (
    MaterialsError,
    ParallaxError,
    StudyError,
    StudyNote,
    prefix_location,
    why_unread,
)
from experiment.materials.formats.read import FileContents, read_materials
from experiment.materials.item_rows import item_table
from experiment.materials.read import collect_items
from experiment.records import Item
from experiment.responses.registry import response_class
from experiment.studies.files import SOURCES_FILE, describe_other_sources, find_sources
from experiment.studies.load import STUDIES_FOLDER, load_study
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
        materials: The contents of the items file, and what was derived from them.
        task: The task of the study's trials.
        design: The design that was chosen for the study.
        oddities: The oddities of its items.
    """

    folder: Path
    materials: FileContents
    task: StudyTask
    design: DesignPlan
    oddities: tuple[ParallaxError, ...] = ()


def new_study(
    folder: Path,
    source: Path | None,
    *,
    language: str,
    title: str = "",
    response: str = "",
    headers: Mapping[str, str],
    block: str = "",
    columns: Sequence[str] = (),
    sheet: str = "",
    lists: int = 0,
) -> NewStudy | None:
    """Write a study folder; if anything is wrong, no folder remains.

    Args:
        folder: The folder to write, which must not exist; its name becomes the study's.
        source: The file of items; None to copy the built-in study ``minimal`` under a new name.
        language: The tag of the items' language.
        title: The title that participants see; empty for the question of the trials.
        response: The response type; empty for the type that suits the items.
        headers: Parallax's column name to the source's header, if it is not recognised.
        block: The source's column that names the session's block; empty for a single block.
        columns: The names of the source's columns, if it has no headers.
        sheet: The sheet of the source, if it is not its first.
        lists: How many lists there shall be; 0 to let the items decide.

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
    _refuse_unknown_language(language)
    materials = _read_source(source, headers, response, language, columns, sheet)
    if note := describe_other_sources(source):
        materials = replace(materials, notes=(*materials.notes, note))
    return write_new_study(
        folder,
        materials,
        source,
        language=language,
        title=title,
        response=response,
        block=block,
        lists=lists,
        further_files=_read_sources(source),
    )


def write_new_study(
    folder: Path,
    materials: FileContents,
    source: Path,
    *,
    language: str,
    title: str = "",
    response: str = "",
    block: str = "",
    lists: int = 0,
    further_files: Mapping[str, str] = MappingProxyType({}),
) -> NewStudy:
    """Write a study folder of items that were read; if anything is wrong, no folder remains.

    Args:
        folder: The folder to write, as for ``new_study``.
        materials: The items.
        source: The file that they are from, for messages.
        language: The tag of the items' language.
        title: The title that participants see; empty for the question of the trials.
        response: The response type; empty for the type that suits the items.
        block: The column that names the session's block; empty for a single block.
        lists: How many lists there shall be; 0 to let the items decide.
        further_files: The texts of further files of the study, by name.

    Raises:
        StudyError: The folder exists, or its name is not valid for a study.
        ParallaxError: The items do not make a valid study.
    """
    study_name(folder)
    _refuse_existing(folder)
    _refuse_unknown_language(language)
    task = choose_task(materials, response, language)
    design = _plan_design(materials.items, task, source, lists)
    if block:
        design = assign_blocks(design, materials.items, block)
    if not design.trials_per_list:
        raise MaterialsError(
            f"there are too few items to fill a list. {' '.join(design.notes)}",
            where=str(source),
            expected=f"at least as many items as conditions: {design.lists}",
        )
    oddities = _find_oddities(materials, task, design, source, language)
    new = NewStudy(folder, materials, task, design, oddities)
    with atomic_folder(folder, ()) as temporary:
        _write_folder(new, temporary, title or task.title, language)
        for name, text in further_files.items():
            (temporary / name).write_text(text, encoding="utf-8", newline="\n")
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


def _plan_design(items: Sequence[Item], task: StudyTask, source: Path, lists: int) -> DesignPlan:
    try:
        return plan_design(items, task.response.balanced_over, lists)
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
    found: FileContents, task: StudyTask, design: DesignPlan, source: Path, language: str
) -> tuple[ParallaxError, ...]:
    """Return the oddities that the lints find in the items, located in the source.

    Raises:
        ParallaxError: A fault that prevents a launch.
    """
    against = task.parameters.get("against", ())
    materials = Materials(
        found.items,
        language,
        tuple(against) if isinstance(against, list | tuple) else (),
        design_columns=frozenset(given.column for given in design.given),
    )
    errors = list(report_faults(find_faults(materials), str(source), found.places))
    if refused := next((fault for fault in errors if not isinstance(fault, StudyNote)), None):
        raise refused
    return tuple(errors)


def _read_source(
    source: Path,
    headers: Mapping[str, str],
    response: str,
    language: str,
    columns: Sequence[str],
    sheet: str,
) -> FileContents:
    response_type = response_class(response) if response else None
    return read_materials(
        source,
        headers,
        alone=response_type is None or response_type.alone,
        regions=bool(response_type and response_type.step_table is not None) or None,
        language=language,
        columns=columns,
        sheet=sheet,
    )


def _read_sources(items: Path) -> Mapping[str, str]:
    """Return the text of SOURCES.md of a table of items by its name; nothing if there is none."""
    path = find_sources(items)
    if path is None:
        return {}
    try:
        return {SOURCES_FILE: path.read_text(encoding="utf-8")}
    except (OSError, UnicodeDecodeError) as error:
        raise MaterialsError(
            f"the origin of the items cannot be read: {why_unread(error)}",
            where=str(path),
            expected="text in UTF-8",
        ) from error


def _refuse_unknown_language(language: str) -> None:
    if not is_tag(language):
        raise StudyError(
            f'"{language}" is not a language tag',
            where="--language",
            expected='a tag of BCP 47, such as "en", "pt-BR" or "zh-Hant"',
        )


def _write_folder(new_folder: NewStudy, into: Path, title: str, language: str) -> None:
    materials, task, design = new_folder.materials, new_folder.task, new_folder.design
    text = study_toml(
        study_name(new_folder.folder),
        title,
        language,
        ITEMS_FILE,
        materials,
        task,
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
            columns=bool(task.response.step_table or task.response.details),
        )
        (into / PRACTICE_FILE).write_text(text, encoding="utf-8", newline="\n")
    _write_texts(into / "texts" / language, task, design)
    _write_comparisons(into)


def _write_comparisons(folder: Path) -> None:
    """Declare in a new study.toml the comparisons that the design implies."""
    study = load_study(str(folder))
    comparisons = planned_comparisons(study, collect_items(study))
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
    shutil.copytree(STUDIES_FOLDER / "minimal", folder)
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


def _write_texts(folder: Path, task: StudyTask, design: DesignPlan) -> None:
    folder.mkdir(parents=True)
    trials = str(design.trials_per_list)
    words = {
        "task": task.task.replace("{trials}", trials),
        "result": task.result,
        "minutes": str(estimate_minutes(design.trials_per_list, task.response)),
    }
    for page in ("consent", "instructions", "debrief"):
        source = task.instructions if page == "instructions" else page
        text = task.words.page(source)
        for key, value in words.items():
            text = text.replace(f"{{{key}}}", value)
        (folder / f"{page}.md").write_text(text, encoding="utf-8", newline="\n")
