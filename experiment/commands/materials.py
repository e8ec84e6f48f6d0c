"""``parallax materials``: write a study's items, or check a file of items."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import click
from tqdm import tqdm

from experiment.design.frames import index_materials
from experiment.errors import MaterialsError
from experiment.grammar.gloss import gloss
from experiment.grammar.grammar import OnLeftOut, generate, load_grammar
from experiment.materials.checks import Finding, Result, check_items
from experiment.materials.formats.files import is_materials, open_materials
from experiment.materials.formats.write import OUTPUT_FORMATS, write_items
from experiment.materials.fresh import draw_parallel_items, parse_parallel_id
from experiment.materials.item_rows import item_table
from experiment.materials.read import find_items, load_items, materials_hash, read_items
from experiment.records import Item
from experiment.seeds import generator
from experiment.studies.load import load_study
from experiment.studies.study import Study
from experiment.tables.files import write_table
from experiment.version import code_version


@click.group()
def materials() -> None:
    """Write and check the items of a study."""


@materials.command()
@click.argument("name_or_folder", metavar="STUDY_OR_ITEMS")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The file to write.")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(OUTPUT_FORMATS)),
    help="Write for another program.  [default: Parallax's own table, .tsv, .csv or .parquet]",
)
def write(name_or_folder: str, out: Path, form: str | None) -> None:
    """Write all items of STUDY_OR_ITEMS.

    STUDY_OR_ITEMS is the name of a built-in study, a study folder, a grammar (.toml), or a file or
    folder of items in any format that is read.
    """
    notes: dict[str, None] = {}
    study_name, read = _open_study_or_file(
        name_or_folder, left_out=lambda note: notes.setdefault(str(note))
    )
    items = tqdm(read(), desc="Writing", unit=" items", disable=None)
    if form:
        click.echo(f"{write_items(items, form, out):,} items of {study_name[0]} written to {out}")
        return
    identity = materials_hash(read())
    metadata = {
        "study": study_name[0],
        "study_version": study_name[1],
        "materials_hash": identity,
        "code_version": code_version(),
    }
    number = write_table(*item_table(items), out, metadata)
    click.echo(f"{number:,} items of {' '.join(filter(None, study_name))} written to {out}")
    click.echo(f"materials hash {identity}")
    for note in notes:
        click.echo(note)


def _open_study_or_file(
    name_or_folder: str, left_out: OnLeftOut
) -> tuple[tuple[str, str], Callable[[], Iterator[Item]]]:
    """Return a study's or file's name and version, and a function that iterates its items."""
    if grammar := _find_grammar(name_or_folder):
        return (grammar.name, ""), partial(generate, load_grammar(grammar), left_out)
    if is_materials(name_or_folder):
        return (Path(name_or_folder).name, ""), open_materials(Path(name_or_folder)).items
    study = load_study(name_or_folder)
    return (study.name, study.study.version), partial(load_items, study, left_out=left_out)


def _find_grammar(name: str) -> Path | None:
    """Return the path of a grammar if a name is that of its file."""
    path = Path(name)
    return path if path.suffix == ".toml" and path.is_file() else None


@materials.command()
@click.argument("name_or_file", metavar="STUDY_OR_GRAMMAR")
def show(name_or_file: str) -> None:
    """Show an example of each condition, with a gloss.

    STUDY_OR_GRAMMAR is a study made from templates, or the file of its grammar. Below each sentence
    are its words before the rules of spelling, with the features of each.
    """
    grammar = load_grammar(_find_grammar(name_or_file) or _grammar_of(load_study(name_or_file)))
    notes: list[str] = []
    numbers = Counter(
        item.template for item in generate(grammar, lambda note: notes.append(str(note)))
    )
    for template in grammar.templates:
        click.echo(
            f"{template.construction}, template {template.name}: {numbers[template.name]:,} items"
        )
        for line in gloss(grammar, template):
            click.echo(line)
    for note in notes:
        click.echo(note)


def _grammar_of(study: Study) -> Path:
    if study.materials.items:
        raise MaterialsError(
            f"the items of {study.name} come from a table, and no template says how they were made",
            where=str(study.materials_path),
            expected="a study with a grammar",
        )
    return study.grammar_path


@materials.command()
@click.argument("name_or_folder", metavar="STUDY")
@click.argument("shown", metavar="ITEMS", type=click.Path(path_type=Path))
@click.option(
    "--draws",
    default=1,
    show_default=True,
    type=click.IntRange(min=1),
    help="How many parallel items to draw for each item.",
)
@click.option("--seed", required=True, type=int, help="The seed of every random choice.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The table to write.")
def fresh(name_or_folder: str, shown: Path, draws: int, seed: int, out: Path) -> None:
    """Draw items parallel to those that STUDY shows.

    STUDY is made from templates. ITEMS are the items that it shows: a table, or a folder that
    `parallax lists build` or `parallax export` wrote. Each item of a draw has the template, the
    condition and the first word of an item of the study. Each draw has every word as often as the
    study. Words are combined at random, so a draw may repeat sentences of the study: the ids of
    such items contain ".shown", and those of all others ".fresh".
    """
    study = load_study(name_or_folder)
    _grammar_of(study)
    index = index_materials(load_items(study))
    of_study = list(read_items(find_items(shown)))
    items, left_out = draw_parallel_items(index.items, of_study, draws, generator(seed, "fresh"))
    if not items:
        raise MaterialsError(
            f"{study.name} leaves too few sentences that it does not show",
            where=str(shown),
            expected="templates whose lexicons make other combinations",
            remedy="Add words to the lexicons, or show fewer frames",
        )
    metadata = {"materials_hash": materials_hash(items), "code_version": code_version()}
    number = write_table(*item_table(items), out, metadata)
    n_fresh = sum(parse_parallel_id(item.item_id)[2] for item in items)
    click.echo(
        f"{number:,} items parallel to {number // draws:,} of {study.name}, in "
        f"{draws:,} {'draw' if draws == 1 else 'draws'}, written to {out}; "
        f"{n_fresh:,} of them are fresh"
    )
    if left_out:
        click.echo(
            "Left out, because the study shows too many combinations of their words, or the draws "
            "have no other: " + ", ".join(left_out)
        )


@materials.command()
@click.argument("file", type=click.Path(path_type=Path))
def check(file: Path) -> None:
    """Check the items in FILE and print what was found.

    FILE is a table: .tsv, .csv or .parquet.
    """
    findings = check_items(tqdm(read_items(file), desc="Checking", unit=" items", disable=None))
    click.echo(_make_findings_table(findings))
    failed = [finding.check for finding in findings if finding.result is Result.FAILED]
    if failed:
        raise MaterialsError(
            f"{len(failed)} check(s) failed: {'; '.join(failed)}",
            where=str(file),
            remedy="The table above names the first item that fails each check",
        )


def _make_findings_table(findings: Sequence[Finding]) -> str:
    width = max(len(finding.check) for finding in findings)
    return "\n".join(f"{f.check:<{width}}  {f.result:<7}  {f.found}" for f in findings)
