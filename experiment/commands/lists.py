"""``parallax lists``: build a study's lists, audit lists built before."""

from pathlib import Path

import click
from tqdm import tqdm

from experiment.design.audit.audit import audit, require_passed
from experiment.design.audit.sessions import Check
from experiment.design.files import read_lists, write_lists
from experiment.design.lists import BuiltLists, build_lists
from experiment.errors import UnknownNameError
from experiment.materials.read import load_items
from experiment.studies.load import load_study
from experiment.studies.study import Study
from experiment.tables.files import text_table


@click.group()
def lists() -> None:
    """Build and audit the lists of a study."""


@lists.command()
@click.argument("study")
@click.option("--seed", required=True, type=int, help="The seed of every random choice.")
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="The folder to write items.csv, lists.csv and design.json to.",
)
def build(study: str, seed: int, out: Path) -> None:
    """Build the lists of STUDY.

    STUDY is the name of a built-in study or a study folder.

    The lists are audited first and written only if every check passes; the same seed
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
@click.option("--study", help="The study's folder, if design.json does not name a built-in study.")
def audit_folder(folder: Path, study: str | None) -> None:
    """Run every check of the design on the lists in FOLDER.

    Nothing that the building of the lists found is taken over.
    """
    built = read_lists(folder)
    try:
        loaded = load_study(study or built.study)
    except UnknownNameError as error:
        raise UnknownNameError(
            error.problem,
            where=str(folder / "design.json") if study is None else "--study",
            expected=error.expected,
            remedy="Give the study's folder with --study",
        ) from error
    _audit(loaded, built)


def _audit(study: Study, built: BuiltLists) -> None:
    items = tqdm(load_items(study), desc="Auditing", unit=" items", disable=None)
    checks = audit(study, built, items)
    click.echo(text_table(("", "check", "expected", "found"), map(_row, checks)))
    require_passed(checks)


def _row(check: Check) -> tuple[str, str, str, str]:
    mark = ("passed" if check.expected else "info") if check.passed else "FAILED"
    return mark, check.name, check.expected, check.found
