"""``parallax treebank``: agreement constructions and test sentences from a treebank."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click
from tqdm import tqdm

from experiment.commands.treebank_study import study
from experiment.materials.item_rows import item_row
from experiment.materials.treebank.agreement_test import AgreementTest, make_item
from experiment.materials.treebank.build import build_test_set, constructions_of, read_vocabulary
from experiment.materials.treebank.conllu import NUMBERS, Sentence, mark_verb_number, read_treebank
from experiment.materials.treebank.constructions import (
    PAPER,
    PUBLISHED_CODE,
    Conventions,
    Extraction,
)
from experiment.materials.treebank.published.generated import gold_of, write_generated, write_lines
from experiment.materials.treebank.published.items import published_items, results_of, write_results
from experiment.records import Item
from experiment.tables.atomic_write import atomic_folder
from experiment.tables.files import text_table, write_table
from experiment.tables.schemas import ITEMS

ITEMS_FILE = "items.tsv"
STEM = "generated"
_FILES = (ITEMS_FILE, *(f"{STEM}.{ending}" for ending in ("text", "gold", "eval", "tab")))
_PATH = click.Path(path_type=Path)


def _treebank_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the argument and the options for reading a treebank."""
    for decorate in (
        click.option(
            "--as-published-code",
            is_flag=True,
            help="Follow the published code where it differs from the paper.",
        ),
        click.option(
            "--least-of-each-number",
            type=click.IntRange(min=1),
            help=(
                "Keep a pattern with at least this many agreeing pairs in the singular and as many "
                "in the plural.  [default: 10; 6 with --as-published-code]"
            ),
        ),
        click.option("--english", is_flag=True, help="First mark the number of English verbs."),
        click.argument("files", metavar="CONLLU...", nargs=-1, required=True, type=_PATH),
    ):
        command = decorate(command)
    return command


@click.group()
def treebank() -> None:
    """Make agreement test sentences from a treebank."""


treebank.add_command(study)


@treebank.command()
@_treebank_options
@click.option("--instances", is_flag=True, help="List every instance, to check by hand.")
def extract(
    files: tuple[Path, ...],
    english: bool,
    least_of_each_number: int | None,
    as_published_code: bool,
    instances: bool,
) -> None:
    """Print the constructions in which distant words agree.

    The CONLLU files contain parsed sentences; agreement is in number.
    """
    conventions = _choose_conventions(as_published_code, least_of_each_number)
    extraction = constructions_of(_read_sentences(files, english), conventions)
    click.echo(_format_counts(extraction.remaining))
    click.echo(f"\n{_tabulate_constructions(extraction)}")
    if instances:
        click.echo(f"\n{_tabulate_instances(extraction)}")


@treebank.command()
@_treebank_options
@click.option("--vocabulary", type=_PATH, help="A model's words, one on each line.")
@click.option("--fillers", is_flag=True, help="Add as many fillers as targets.")
@click.option("--pool", is_flag=True, help="Give all constructions the same template.")
@click.option("--seed", required=True, type=int, help="The seed of nonce words and fillers.")
@click.option("--out", required=True, type=_PATH, help="The folder to write to.")
def nonce(
    files: tuple[Path, ...],
    english: bool,
    least_of_each_number: int | None,
    as_published_code: bool,
    vocabulary: Path | None,
    fillers: bool,
    pool: bool,
    seed: int,
    out: Path,
) -> None:
    """Write original and nonce test sentences of CONLLU files.

    The same seed gives the same bytes.

    The folder holds items.tsv, which lists, serving and scoring read, and the same targets in
    the published formats: generated.text, .gold, .eval and .tab.
    """
    sentences = list(_read_sentences(files, english))
    conventions = _choose_conventions(as_published_code, least_of_each_number)
    words = read_vocabulary(vocabulary)
    test_set = build_test_set(sentences, words, conventions, seed, with_fillers=fillers)
    frequencies = Counter(token.form for sentence in sentences for token in sentence.tokens)
    items = [
        make_item(test_sentence, pooled=pool)
        for test_sentence in (*test_set.targets, *test_set.fillers)
    ]
    _write(out, items, test_set.targets, frequencies)
    click.echo(_format_counts(test_set.remaining))
    click.echo(f"\n{_tabulate_templates(items)}")
    click.echo(f"\n{len(items):,} items written to {out}")


@treebank.command()
@click.argument("files", metavar="CONLLU...", nargs=-1, required=True, type=_PATH)
@click.option("--out", required=True, type=_PATH, help="The text file to write.")
def text(files: tuple[Path, ...], out: Path) -> None:
    """Write the words of CONLLU files to train a model on.

    Each line has one sentence.
    """
    lines = [" ".join(token.form for token in s.tokens) for s in _read_sentences(files, False)]
    write_lines(out, lines)
    click.echo(f"{len(lines):,} sentences written to {out}")


@treebank.command()
@click.argument("stem", type=_PATH)
@click.option(
    "--out", required=True, type=_PATH, help="The table to write (.tsv, .csv or .parquet)."
)
def items(stem: Path, out: Path) -> None:
    """Write the items of a published test set.

    Its files are STEM.text, STEM.gold and STEM.eval.

    These are "generated" of Gulordava et al. (2018), whose STEM.tab has the attractors, and
    "subj_agr_filtered" of Linzen et al. (2016).
    """
    n_items = write_table(ITEMS, map(item_row, published_items(stem)), out)
    click.echo(f"{n_items:,} items written to {out}")


def _choose_conventions(as_published_code: bool, least_of_each_number: int | None) -> Conventions:
    conventions = PUBLISHED_CODE if as_published_code else PAPER
    fewest = least_of_each_number or conventions.least_of_each_number
    return replace(conventions, least_of_each_number=fewest)


def _read_sentences(files: Sequence[Path], english: bool) -> Iterable[Sentence]:
    sentences = tqdm(read_treebank(files), desc="Reading", unit=" sentences", disable=None)
    return map(mark_verb_number, sentences) if english else sentences


def _write(
    out: Path,
    items: Sequence[Item],
    targets: Sequence[AgreementTest],
    frequencies: Mapping[str, int],
) -> None:
    with atomic_folder(out, _FILES) as folder:
        write_table(ITEMS, map(item_row, items), folder / ITEMS_FILE)
        write_generated(folder / STEM, [gold_of(test_sentence) for test_sentence in targets])
        write_results(folder / f"{STEM}.tab", results_of(targets, frequencies))


def _format_counts(counts: Mapping[str, int]) -> str:
    width = max(map(len, counts))
    return "\n".join(f"{name:<{width}}  {n:>9,}" for name, n in counts.items())


def _tabulate_constructions(extraction: Extraction) -> str:
    rows = []
    for pattern, candidate in extraction.constructions.items():
        agreeing = [candidate.numbers[number, number] for number in NUMBERS]
        rows.append((pattern.name, *agreeing, candidate.numbers.total() - sum(agreeing)))
    return text_table(("construction", *NUMBERS, "not agreeing"), rows)


def _tabulate_instances(extraction: Extraction) -> str:
    rows = []
    for pattern, candidate in extraction.constructions.items():
        for sentence, cue, target in candidate.agreeing:
            words = " ".join(token.form for token in sentence.tokens[cue : target + 1])
            rows.append((pattern.name, sentence.where, words))
    return text_table(("construction", "where", "from cue to target"), rows)


def _tabulate_templates(items: Sequence[Item]) -> str:
    counts = Counter((item.template, item.construction) for item in items)
    rows = [(*names, n) for names, n in counts.items()]
    return text_table(("template", "construction", "items"), rows)
