"""``parallax lists``: build, write, read and audit a study's lists."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import click
from pydantic import BaseModel, ConfigDict, NonNegativeInt, ValidationError
from tqdm import tqdm

from experiment.design.audit.audit import audit, require_passed
from experiment.design.audit.sessions import Check
from experiment.design.exchanges import pair_frames
from experiment.design.frames import MaterialsIndex, index_materials
from experiment.design.lists import BuiltLists, build_lists
from experiment.design.separating import (
    INCLUSION_FILE,
    RANDOM_SHARE,
    Inclusion,
    compute_inclusion,
    find_differences,
    inclusion_rows,
)
from experiment.errors import DesignError, UnknownNameError, describe_validation_error
from experiment.materials.item_rows import item_table
from experiment.materials.read import load_items, read_items
from experiment.records import Item, Kind, ListEntry
from experiment.studies.files import SOURCES_FILE
from experiment.studies.load import load_study
from experiment.studies.study import Study
from experiment.tables.atomic_write import atomic_folder
from experiment.tables.files import read_table, text_table, write_table
from experiment.tables.model_scores import read_model_scores
from experiment.tables.schemas import INCLUSION, LISTS

ORIGIN_FILE = "design.json"
FILES = ("items.csv", "lists.csv", ORIGIN_FILE, INCLUSION_FILE, SOURCES_FILE)


class _Origin(BaseModel):
    """The contents of design.json: the origin of the lists."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    study: str
    version: str
    seed: int
    materials_hash: str
    lists: NonNegativeInt


def write_lists(built: BuiltLists, folder: Path, sources: Path | None = None) -> None:
    """Write the lists to a folder; equal lists give identical files.

    Args:
        built: The lists.
        folder: The folder.
        sources: The file that says where the sentences are from, to be copied.

    Raises:
        WritingError: The folder holds other files or cannot be written.
    """
    with atomic_folder(folder, FILES) as temporary:
        _write_tables(built, temporary)
        (temporary / ORIGIN_FILE).write_text(_write_origin(built), encoding="utf-8", newline="\n")
        if sources:
            (temporary / SOURCES_FILE).write_bytes(sources.read_bytes())


def _write_tables(built: BuiltLists, folder: Path) -> None:
    entries = [(list_, entry) for list_, entries in enumerate(built.lists) for entry in entries]
    items = {entry.item.item_id: entry.item for _, entry in entries}
    write_table(*item_table(items.values()), folder / "items.csv")
    levels = built.levels or ({},) * len(built.lists)
    rows = (
        {"list": list_, "item_id": entry.item.item_id, "kind": entry.kind, **levels[list_]}
        for list_, entry in entries
    )
    write_table(LISTS.extended(levels[0] if levels else ()), rows, folder / "lists.csv")
    if built.inclusion:
        write_table(INCLUSION, inclusion_rows(built.inclusion), folder / INCLUSION_FILE)


def _write_origin(built: BuiltLists) -> str:
    origin = _Origin(
        study=built.study,
        version=built.version,
        seed=built.seed,
        materials_hash=built.materials_hash,
        lists=len(built.lists),
    )
    return origin.model_dump_json(indent=2) + "\n"


def read_lists(folder: Path) -> BuiltLists:
    """Read the lists from a folder.

    Raises:
        DesignError: design.json is missing or malformed, or the tables contradict it.
        TableError: A table is missing or malformed.
    """
    origin = _read_origin(folder / ORIGIN_FILE)
    items = {item.item_id: item for item in read_items(folder / "items.csv")}
    lists: list[list[ListEntry]] = [[] for _ in range(origin.lists)]
    levels: list[dict[str, str]] = [{} for _ in lists]
    for row in read_table(LISTS, folder / "lists.csv", extended=True):
        list_, item_id = row["list"], row["item_id"]
        if list_ not in range(origin.lists) or item_id not in items:
            raise DesignError(
                f'list {list_} has the item "{item_id}"',
                where=str(folder / "lists.csv"),
                expected=f"lists 0 to {origin.lists - 1} and items that items.csv has",
            )
        number = int(str(list_))
        lists[number].append(ListEntry(items[str(item_id)], Kind(str(row["kind"]))))
        levels[number] = {n: str(value) for n, value in row.items() if n not in LISTS.column_names}
    return BuiltLists(
        origin.study,
        origin.version,
        origin.seed,
        origin.materials_hash,
        tuple(map(tuple, lists)),
        tuple(levels) if any(levels) else (),
        tuple(_read_inclusion(folder / INCLUSION_FILE)),
    )


def _read_inclusion(path: Path) -> Iterator[Inclusion]:
    if path.is_file():
        yield from (Inclusion(**row) for row in read_table(INCLUSION, path))  # type: ignore[arg-type]


def _read_origin(path: Path) -> _Origin:
    try:
        return _Origin.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise DesignError(
            "the folder holds no lists, or writing them was interrupted",
            where=str(path),
            expected="a folder made by `parallax lists build`",
        ) from error
    except OSError as error:
        raise DesignError(
            f"the description of the lists cannot be read ({error.strerror})", where=str(path)
        ) from error
    except ValidationError as error:
        problems = (
            f"{'.'.join(map(str, e['loc']))} {describe_validation_error(e)}".strip()
            for e in error.errors(include_url=False)
        )
        raise DesignError(
            f"not a description of lists: {'; '.join(problems)}",
            where=str(path),
            expected=f"JSON with {', '.join(_Origin.model_fields)}",
            remedy="Build the lists again",
        ) from error


@click.group()
def lists() -> None:
    """Build and audit the lists of a study."""


@lists.command()
@click.argument("name_or_folder", metavar="STUDY")
@click.option("--seed", required=True, type=int, help="The seed of every random choice.")
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="The folder to write items.csv, lists.csv and design.json to.",
)
@click.option(
    "--separate",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="SCORES",
    help="Draw frames on which models differ: a file that `parallax lm score` wrote; repeat it "
    "for each model.",
)
@click.option(
    "--random-share",
    default=RANDOM_SHARE,
    show_default=True,
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="With --separate, the share of frames that is drawn at random from all.",
)
def build(
    name_or_folder: str, seed: int, out: Path, separate: tuple[Path, ...], random_share: float
) -> None:
    """Build the lists of STUDY.

    STUDY is the name of a built-in study or a study folder.

    The lists are audited first and written only if every check passes; the same seed
    gives the same bytes.
    """
    study = load_study(name_or_folder)
    index = index_materials(tqdm(load_items(study), desc="Building", unit=" items", disable=None))
    inclusion = _separate_models(study, index, seed, separate, random_share) if separate else None
    built = build_lists(study, index, seed, inclusion)
    _audit(study, built, index)
    sources = study.folder / SOURCES_FILE
    write_lists(built, out, sources if sources.is_file() else None)
    click.echo(f"{len(built.lists)} lists of {study.name} {study.study.version} written to {out}")
    if separate:
        click.echo(
            f"To launch these lists, copy {out / INCLUSION_FILE} into the study's folder, write "
            f'inclusion = "{INCLUSION_FILE}" under [design] in study.toml, and launch with '
            f"--seed {seed}."
        )


def _separate_models(
    study: Study, index: MaterialsIndex, seed: int, paths: tuple[Path, ...], share: float
) -> list[Inclusion]:
    """Return each frame's probability of being drawn if the frames separate models."""
    models = [read_model_scores(path) for path in paths]
    templates = [template for square in study.design.squares for template in square.templates]
    if not templates:
        raise DesignError(
            "the design has no squares, whose frames could be drawn to separate models",
            where="--separate",
            expected="[[design.squares]] in study.toml",
            remedy="Build the lists without --separate",
        )
    frames = {
        template: {
            frame.text: list(index.items[template][frame.text].values())
            for frame in index.frames(template)
        }
        for template in templates
    }
    differences = find_differences(study, frames, models)
    names = [scores.model for scores in models]
    pairs = pair_frames(study.design, index, seed)
    return compute_inclusion(study, differences, names, share, pairs)


@lists.command(name="audit")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--study",
    "name_or_folder",
    help="The study's folder, if design.json does not name a built-in study.",
)
def audit_folder(folder: Path, name_or_folder: str | None) -> None:
    """Run every check of the design on the lists in FOLDER.

    The checks are repeated, independently of `parallax lists build`.
    """
    built = read_lists(folder)
    try:
        study = load_study(name_or_folder or built.study)
    except UnknownNameError as error:
        raise UnknownNameError(
            error.problem,
            where=str(folder / "design.json") if name_or_folder is None else "--study",
            expected=error.expected,
            remedy="Give the study's folder with --study",
        ) from error
    _audit(study, built, tqdm(load_items(study), desc="Auditing", unit=" items", disable=None))


def _audit(study: Study, built: BuiltLists, items: Iterable[Item] | MaterialsIndex) -> None:
    checks = audit(study, built, items)
    click.echo(text_table(("", "check", "expected", "found"), map(_make_check_row, checks)))
    require_passed(checks)


def _make_check_row(check: Check) -> tuple[str, str, str, str]:
    mark = ("passed" if check.expected else "info") if check.passed else "FAILED"
    return mark, check.name, check.expected, check.found
