"""``parallax lists``: build a study's lists, audit lists built before."""

from collections.abc import Sequence
from pathlib import Path

import click
from tqdm import tqdm

from experiment.design.audit import audit, refuse_broken
from experiment.design.files import read_lists, write_lists
from experiment.design.lists import BuiltLists, build_lists
from experiment.design.promises.promise import Promise
from experiment.errors import UnknownNameError
from experiment.materials.read import load_items
from experiment.studies.load import load_study
from experiment.studies.study import Study


@click.group()
def lists() -> None:
    """Build and audit the lists of a study."""


@lists.command()
@click.argument("study")
@click.option("--seed", required=True, type=int, help="Decides every random choice.")
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="The folder to write: items.csv, lists.csv and design.json.",
)
def build(study: str, seed: int, out: Path) -> None:
    """Build the lists of STUDY, the name of a built-in study or a study folder.

    The lists are audited first and written only if they keep every promise; the same seed
    gives the same bytes.
    """
    loaded = load_study(study)
    items = tqdm(load_items(loaded), desc="Building", unit=" items", disable=None)
    built = build_lists(loaded, items, seed)
    _audit(loaded, built)
    write_lists(built, out)
    click.echo(f"{len(built.lists)} lists of {loaded.name} {loaded.study.version} written to {out}")


@lists.command(name="audit")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--study", help="The study, where design.json names none that is built in.")
def audit_folder(folder: Path, study: str | None) -> None:
    """Check every promise of the design on the lists in FOLDER, from scratch."""
    built = read_lists(folder)
    try:
        loaded = load_study(study or built.study)
    except UnknownNameError as error:
        raise UnknownNameError(
            error.problem,
            where=str(folder / "design.json") if study is None else "--study",
            expected=error.expected,
            remedy="Name the study's folder with --study",
        ) from error
    _audit(loaded, built)


def _audit(study: Study, built: BuiltLists) -> None:
    items = tqdm(load_items(study), desc="Auditing", unit=" items", disable=None)
    promises = audit(study, built, items)
    click.echo(_table(promises))
    refuse_broken(promises)


def _table(promises: Sequence[Promise]) -> str:
    rows = [("", "promise", "expected", "found"), *(_row(promise) for promise in promises)]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join(
        f"{kept:<{widths[0]}}  {promise:<{widths[1]}}  {expected:<{widths[2]}}  {found}"
        for kept, promise, expected, found in rows
    )


def _row(promise: Promise) -> tuple[str, str, str, str]:
    mark = ("kept" if promise.expected else "note") if promise.kept else "BROKEN"
    return mark, promise.promise, promise.expected, promise.found
