"""``parallax maze``: make and check the distractors of a Maze."""

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import click
from tqdm import tqdm

from analysis.errors import AnalysisError
from analysis.maze.distractors import (
    Bounds,
    Use,
    Vocabulary,
    audit_distractors,
    choose_distractors,
    write_judging_table,
)
from analysis.maze.slots import Sentence, format_distractors, make_slots, read_sentences
from experiment.materials.formats.raw import RawTable
from experiment.tables.atomic_write import atomic_write
from experiment.tables.files import require_suffix
from lm.registry import Device, load_scorer
from lm.scorer import Scorer

_PATH = click.Path(path_type=Path)
_DIVIDERS = {".csv": ",", ".tsv": "\t"}
_SHOWN = 20
_BOUNDS = Bounds()


def _add_bounds_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for the distractors' bounds to a command."""
    for option in (
        click.option("--second", help="A second model, which only checks the distractors."),
        click.option(
            "--frequencies",
            type=_PATH,
            required=True,
            help="The words to draw from: word, and count, zipf or log_frequency.",
        ),
        click.option("--threshold", "threshold_bits", default=_BOUNDS.threshold_bits,
                     show_default=True, help="The least surprisal of a distractor, in bits."),
        click.option("--margin", "margin_bits", default=_BOUNDS.margin_bits, show_default=True,
                     help="By how many bits it must exceed the right word's surprisal."),
        click.option("--length", default=_BOUNDS.length, show_default=True,
                     help="By how many letters a distractor may differ from the right word."),
        click.option("--frequency", default=_BOUNDS.frequency, show_default=True,
                     help="By how much a distractor's log-frequency may differ."),
        click.option("--column", "named", multiple=True, metavar="OURS=HEADER",
                     help="Our column's header in TABLE, such as sentence=Stimulus."),
        click.option("--device", type=click.Choice(get_args(Device)), default="auto",
                     show_default=True),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command()
@click.argument("table", type=_PATH)
@click.argument("model")
@click.option("--out", type=_PATH, required=True, help="The table to write (.csv or .tsv).")
@click.option("--candidates", default=_BOUNDS.candidates, show_default=True,
              type=click.IntRange(1), help="How many words are tried each time.")  # fmt: skip
@click.option("--seed", default=_BOUNDS.seed, show_default=True)
@_add_bounds_options
def distractors(
    table: Path,
    model: str,
    out: Path,
    second: str | None,
    frequencies: Path,
    named: tuple[str, ...],
    device: Device,
    **bounds: Any,  # noqa: ANN401 (click types them by the options above)
) -> None:
    """Write TABLE with a distractor for every word of its sentences, chosen by MODEL.

    The same word gets the same distractor in all conditions of an item. The table OUT.audit.tsv
    describes the result for every word. You can correct OUT by hand, and check it again with
    `parallax maze audit`.
    """
    require_suffix(out, *_DIVIDERS)
    raw, sentences = read_sentences(table, _parse_headers(named))
    slots, words = make_slots(sentences), Vocabulary(frequencies)
    limits = Bounds(**bounds)
    scorers = [load_scorer(name, device) for name in (model, second) if name]
    chosen = choose_distractors(
        slots,
        scorers,
        words,
        limits,
        lambda slots_left: tqdm(slots_left, "Choosing", unit=" words", disable=None),
    )
    of_sentence: dict[int, dict[int, str]] = {}
    for slot, word in chosen.items():
        for sentence, position in slot.uses:
            of_sentence.setdefault(id(sentence), {})[position] = word
    texts = {
        (s.row, s.column): format_distractors(s, of_sentence.get(id(s), {})) for s in sentences
    }
    _write_table(raw, texts, out)
    split = {key: text.split() for key, text in texts.items()}
    uses = audit_distractors(sentences, split, slots, scorers, words, limits)
    _report_audit(uses, scorers, out.with_name(f"{out.stem}.audit.tsv"))
    judging = out.with_name(f"{out.stem}.judging.tsv")
    number = write_judging_table(uses, limits.seed, judging)
    click.echo(f"{judging}: {number} pairs for a person to judge; the key is in the same folder")
    click.echo(f"{out}: {len(chosen):,} distractors for {len(uses):,} words")


@click.command(name="audit")
@click.argument("table", type=_PATH)
@click.argument("model")
@click.option("--out", type=_PATH, required=True, help="The table of results to write (.tsv).")
@_add_bounds_options
def audit_(
    table: Path,
    model: str,
    out: Path,
    second: str | None,
    frequencies: Path,
    named: tuple[str, ...],
    device: Device,
    **bounds: Any,  # noqa: ANN401 (click types them by the options above)
) -> None:
    """Check the properties of the distractors of TABLE, under MODEL.

    They may come from `parallax maze distractors`, from A-maze, or from a person.
    """
    raw, sentences = read_sentences(table, _parse_headers(named))
    scorers = [load_scorer(name, device) for name in (model, second) if name]
    distractors_of = {(s.row, s.column): _read_distractors(raw, s) for s in sentences}
    slots, words = make_slots(sentences), Vocabulary(frequencies)
    uses = audit_distractors(sentences, distractors_of, slots, scorers, words,
                 Bounds(**bounds))  # fmt: skip
    _report_audit(uses, scorers, out)
    click.echo(f"{out}: {len(uses):,} words")


def _parse_headers(column_pairs: Sequence[str]) -> dict[str, str]:
    if wrong := [pair for pair in column_pairs if "=" not in pair]:
        raise AnalysisError(f'"{wrong[0]}" names no header', expected="--column sentence=HEADER")
    return {column: header for column, _, header in (pair.partition("=") for pair in column_pairs)}


def _read_distractors(raw: RawTable, sentence: Sentence) -> list[str]:
    words = raw.rows[sentence.row].values.get(sentence.column, "").split()
    if len(words) != len(sentence.words):
        raise AnalysisError(
            f"there are {len(words)} distractors for {len(sentence.words)} words: "
            f'"{" ".join(sentence.words)}"',
            where=sentence.place,
            expected=f'one distractor for each word in the column "{sentence.column}"',
        )
    return words


def _write_table(raw: RawTable, texts: Mapping[tuple[int, str], str], out: Path) -> None:
    added_columns = list(dict.fromkeys(column for _, column in texts))
    columns = [*(name for name in raw.columns if name not in added_columns), *added_columns]
    with atomic_write(out) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=_DIVIDERS[out.suffix], lineterminator="\n")
        writer.writerow(columns)
        for number, row in enumerate(raw.rows):
            row_texts = {column: texts[number, column] for column in added_columns}
            writer.writerow([(row.values | row_texts)[name] for name in columns])


def _report_audit(uses: Sequence[Use], scorers: Sequence[Scorer], out: Path) -> None:
    names = [scorer.name for scorer in scorers]
    with atomic_write(out) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(
            ["place", "frame", "position", "word", "distractor"]
            + [
                f"{word_kind}_bits {name}"
                for name in names
                for word_kind in ("distractor", "right")
            ]
            + ["unmet"]
        )
        for use in uses:
            pairs = zip(use.distractor_bits, use.right_bits, strict=True)
            numbers = ["" if math.isnan(x) else f"{x:.2f}" for pair in pairs for x in pair]
            word = use.sentence.words[use.position]
            writer.writerow(
                [use.sentence.place, use.sentence.frame, use.position + 1, word, use.distractor,
                 *numbers, "; ".join(use.unmet)]
            )  # fmt: skip
    unmet_uses = [use for use in uses if use.unmet]
    click.echo(f"{len(uses) - len(unmet_uses):,} of {len(uses):,} words keep every promise.")
    for use in unmet_uses[:_SHOWN]:
        click.echo(
            f'  {use.sentence.place}: "{use.sentence.words[use.position]}" beside '
            f'"{use.distractor}": {"; ".join(use.unmet)}'
        )
    if len(unmet_uses) > _SHOWN:
        click.echo(f"  and {len(unmet_uses) - _SHOWN:,} more: {out}")
