"""``parallax lm reading-times``: join reading and Maze times with surprisal for mixed models."""

from collections.abc import Sequence
from pathlib import Path

import click
import pandas as pd

from analysis.data.reading_times import join_times, read_times
from analysis.data.word_predictors import KEYS, read_frequencies, read_surprisal, with_predictors
from analysis.errors import AnalysisError
from experiment.tables.atomic_write import atomic_write

_PATH = click.Path(path_type=Path)
_DIVIDERS = {".csv": ",", ".tsv": "\t"}


@click.command("reading-times")
@click.argument("times", type=_PATH)
@click.argument("tables", metavar="SURPRISAL...", nargs=-1, required=True, type=_PATH)
@click.option("--out", required=True, type=_PATH, help="The table to write (.csv or .tsv).")
@click.option(
    "--spillover",
    type=click.IntRange(0),
    default=2,
    show_default=True,
    help="Also add predictors of this many preceding words or regions.",
)
@click.option(
    "--frequencies",
    type=_PATH,
    help="A table of frequencies: word, and log_frequency, zipf or count.",
)
@click.option("--first-position", type=click.IntRange(0, 1), default=1, show_default=True)
@click.option(
    "--column",
    "named",
    multiple=True,
    metavar="OURS=HEADER",
    help="Our column's header in TIMES; for text_id several, divided by commas.",
)
@click.option("--drop-unmatched", is_flag=True, help="Leave out times that have no surprisal.")
def join(
    times: Path,
    tables: tuple[Path, ...],
    out: Path,
    spillover: int,
    frequencies: Path | None,
    first_position: int,
    named: tuple[str, ...],
    drop_unmatched: bool,
) -> None:
    """Join TIMES to SURPRISAL.

    TIMES has a row for each participant and word or region; SURPRISAL are tables that `parallax lm
    surprisal` wrote, of one model each. What does not fit together stops the command.
    """
    if out.suffix not in _DIVIDERS:
        raise AnalysisError(
            "the table's format is not known", where=str(out), expected=".csv, .tsv"
        )
    if wrong := [pair for pair in named if "=" not in pair]:
        raise AnalysisError(f'"{wrong[0]}" names no header', expected="--column rt_ms=HEADER")
    pairs = (pair.partition("=") for pair in named)
    read = read_times(times, {ours: header for ours, _, header in pairs}, first_position)
    surprisal, columns = _surprisal(tables)
    known = read_frequencies(frequencies) if frequencies else None
    predictors = with_predictors(surprisal, columns, spillover, known)
    joined, notes = join_times(read.frame, predictors, times, drop_unmatched=drop_unmatched)
    if known is not None and (lacking := int(joined["log_frequency"].isna().sum())):
        notes.append(f"{lacking:,} words or regions have no frequency.")
    with atomic_write(out) as temporary:
        joined.to_csv(
            temporary, sep=_DIVIDERS[out.suffix], index=False, na_rep="NA", lineterminator="\n"
        )
    for sentence in (*read.notes, *notes):
        click.echo(sentence)
    click.echo(f"{out}: {len(joined):,} times of {joined[KEYS].drop_duplicates().shape[0]:,} words")
    click.echo(f"In R: {_formula(joined, columns, out)}")


def _surprisal(tables: Sequence[Path]) -> tuple[pd.DataFrame, list[str]]:
    """Return the joined surprisal tables; with several, each column is named after its file."""
    whole, columns = pd.DataFrame(), list[str]()
    for path in tables:
        frame, unit = read_surprisal(path)
        name = unit if len(tables) == 1 else f"{unit}_{path.stem}"
        if name in columns:
            raise AnalysisError(
                f"two tables would both be called {name}",
                where=str(path),
                expected="tables whose files have different names",
                remedy="Rename one of the files",
            )
        columns.append(name)
        frame = frame.rename(columns={unit: name})
        if whole.empty:
            whole = frame
            continue
        both = whole.merge(frame, "outer", on=[*KEYS, "text"], indicator=True)
        if (both["_merge"] != "both").any():
            first = both[both["_merge"] != "both"].iloc[0]
            raise AnalysisError(
                f"the tables are not of the same texts: text {first['text_id']}, position "
                f'{first["position"]}, "{first["text"]}" is in only one of them',
                where=", ".join(map(str, tables)),
                expected="the same texts, divided in the same way",
            )
        whole = both.drop(columns="_merge")
    return whole, columns


def _formula(joined: pd.DataFrame, columns: Sequence[str], out: Path) -> str:
    own = [*columns, "length", *(["log_frequency"] if "log_frequency" in joined else [])]
    before = [name for name in joined.columns if name.startswith("prev1_")]
    groups = [name for name in ("participant", "text_id") if name in joined]
    random = [f"(1 | {name})" for name in groups]
    read = "read.csv" if out.suffix == ".csv" else "read.delim"
    return f'lme4::lmer(log(rt_ms) ~ {" + ".join([*own, *before, *random])}, {read}("{out.name}"))'
