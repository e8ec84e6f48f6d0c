"""``parallax natives``: let native speakers check sentences, and keep what they approve."""

from pathlib import Path

import click

from analysis.errors import AnalysisError
from analysis.natives.page import choose_items, has_words, list_sentences, versions_of, write_page
from analysis.natives.verdicts import (
    FEWEST_NATIVES,
    approve,
    compare_natives,
    read_verdicts,
)
from experiment.materials.item_rows import item_table
from experiment.materials.read import find_items, materials_hash, read_items
from experiment.materials.render import render
from experiment.seeds import generator
from experiment.studies.files import SOURCES_SUFFIX, describe_other_sources, find_sources
from experiment.tables.atomic_write import atomic_write
from experiment.tables.files import write_table
from experiment.version import code_version

_PATH = click.Path(path_type=Path)
_SHOWN = 20
_rendering = click.option(
    "--rendering",
    default="sentence_case",
    show_default=True,
    help="How participants read the sentences: `shown_to_people` of study.toml.",
)


@click.group()
def natives() -> None:
    """Let native speakers check a study's sentences."""


@natives.command()
@click.argument("items", type=_PATH)
@click.option("--language", required=True, help="The language of the sentences (BCP 47).")
@click.option("--each", type=click.IntRange(min=1), help="Frames of each template.  [default: all]")
@click.option("--seed", default=1, show_default=True, help="The seed of order and choice.")
@click.option("--out", required=True, type=_PATH, help="The page to write (.html).")
@_rendering
def page(
    items: Path, language: str, each: int | None, seed: int, out: Path, rendering: str
) -> None:
    """Write a page for native speakers to check ITEMS.

    ITEMS are a table, or a folder of lists or of an export. Send the file to two or more native
    speakers. Each opens it in a browser, says of every sentence whether it is right, and sends a
    saved table back. The page shows expected and other versions in random order, and not which is
    which.
    """
    chosen = choose_items(list(read_items(find_items(items))), each, generator(seed, "natives"))
    sentences = list_sentences(chosen, render(rendering), generator(seed, "natives", "order"))
    with atomic_write(out) as temporary:
        temporary.write_text(write_page(sentences, language), "utf-8", newline="\n")
    click.echo(f"{len(sentences):,} sentences of {len(chosen):,} items written to {out}")
    if not has_words(language):
        click.echo(f"The page's own words are in English: Parallax has none in {language}.")


@natives.command("approve")
@click.argument("items", type=_PATH)
@click.argument("tables", metavar="TABLE...", nargs=-1, required=True, type=_PATH)
@click.option("--out", required=True, type=_PATH, help="The table of approved items to write.")
@_rendering
def approve_(items: Path, tables: tuple[Path, ...], out: Path, rendering: str) -> None:
    """Write those of ITEMS that all native speakers approve.

    Each TABLE is what a native speaker saved. An item is approved if everyone says that its
    expected version is right and its other versions are wrong. The table OUT.findings.csv lists all
    other items with their verdicts.
    """
    if len(tables) < FEWEST_NATIVES:
        raise AnalysisError(
            f"{len(tables)} table is given",
            expected=f"the tables of {FEWEST_NATIVES} or more native speakers",
        )
    every, shown = list(read_items(find_items(items))), render(rendering)
    sentences = {text for item in every for text in versions_of(item, shown).values()}
    judges = [read_verdicts(table, sentences) for table in tables]
    names = [judge.name for judge in judges]
    if double := next((name for name in names if names.count(name) > 1), ""):
        raise AnalysisError(
            f'two tables are of "{double}"',
            where=", ".join(map(str, tables)),
            expected="a table of each native speaker, with different names in the column reviewer",
        )
    approved, findings = approve(every, judges, shown)
    findings_path = out.with_name(f"{out.stem}.findings.csv")
    with atomic_write(findings_path) as temporary:
        findings.to_csv(temporary, index=False, encoding="utf-8", lineterminator="\n")
    for pair in compare_natives(judges):
        click.echo(
            f"{' and '.join(pair.names)}: {pair.share:.1%} equal verdicts on "
            f"{pair.n_sentences:,} sentences, kappa {pair.kappa:.2f}"
        )
    for row in findings.head(_SHOWN).to_dict("records"):
        better = f"; better: {row['better']}" if row["better"] else ""
        click.echo(
            f"{row['item_id']}, {row['version']}, {row['reason']}: {row['sentence']}{better}"
        )
    if len(findings) > _SHOWN:
        click.echo(f"... and {len(findings) - _SHOWN:,} more in {findings_path}")
    if not approved:
        raise AnalysisError(
            "no item is approved by everyone",
            where=str(findings_path),
            remedy="Correct the sentences that it lists, and let native speakers check them again",
        )
    metadata = {"materials_hash": materials_hash(approved), "code_version": code_version()}
    number = write_table(*item_table(approved), out, metadata)
    table = find_items(items)
    if sources := find_sources(table):
        with atomic_write(out.with_name(out.stem + SOURCES_SUFFIX)) as temporary:
            temporary.write_bytes(sources.read_bytes())
    judged = number + (findings["item_id"].nunique() if len(findings) else 0)
    click.echo(f"{number:,} of {judged:,} items approved by {', '.join(names)}: {out}")
    if note := describe_other_sources(table):
        click.echo(note)
    if judged < len(every):
        click.echo(f"{len(every) - judged:,} other items were not on the page, and are left out.")
