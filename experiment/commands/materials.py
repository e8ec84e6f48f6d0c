"""``parallax materials``: write a study's items, check a file of items."""

from collections.abc import Sequence
from pathlib import Path

import click
from tqdm import tqdm

from experiment.errors import MaterialsError
from experiment.materials.checks import Finding, Result, check_items
from experiment.materials.identity import materials_hash
from experiment.materials.read import item_row, load_items, read_items
from experiment.schemas import ITEMS
from experiment.studies.load import load_study
from experiment.tables import write_table
from experiment.version import code_version


@click.group()
def materials() -> None:
    """Write and check the items of a study."""


@materials.command()
@click.argument("study")
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="The file to write: .tsv, .csv or .parquet.",
)
def write(study: str, out: Path) -> None:
    """Write all items of STUDY, the name of a built-in study or a study folder."""
    loaded = load_study(study)
    identity = materials_hash(load_items(loaded))
    items = tqdm(load_items(loaded), desc="Writing", unit=" items", disable=None)
    metadata = {
        "study": loaded.name,
        "study_version": loaded.study.version,
        "materials_hash": identity,
        "code_version": code_version(),
    }
    number = write_table(ITEMS, map(item_row, items), out, metadata)
    click.echo(f"{number:,} items of {loaded.name} {loaded.study.version} written to {out}")
    click.echo(f"materials hash {identity}")


@materials.command()
@click.argument("file", type=click.Path(path_type=Path))
def check(file: Path) -> None:
    """Check the items in FILE (.tsv, .csv or .parquet) and print what was found."""
    findings = check_items(tqdm(read_items(file), desc="Checking", unit=" items", disable=None))
    click.echo(_table(findings))
    failed = [finding.check for finding in findings if finding.result is Result.FAILED]
    if failed:
        raise MaterialsError(
            f"{len(failed)} check(s) failed: {'; '.join(failed)}",
            where=str(file),
            remedy="The table above names the first offender of each",
        )


def _table(findings: Sequence[Finding]) -> str:
    width = max(len(finding.check) for finding in findings)
    return "\n".join(f"{f.check:<{width}}  {f.result:<7}  {f.found}" for f in findings)
