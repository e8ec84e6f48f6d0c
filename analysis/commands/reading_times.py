"""``parallax lm reading-times``: join reading and Maze times with surprisal for mixed models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import pandas as pd

from analysis.data.word_predictors import (
    KEYS,
    add_predictors,
    normalise_word,
    parse_numbers,
    parse_positions,
    read_frequencies,
    read_surprisal,
)
from analysis.errors import AnalysisError
from experiment.materials.formats.raw import RawTable, read_raw
from experiment.materials.formats.words import key_of
from experiment.tables.atomic_write import atomic_write
from experiment.tables.files import require_suffix

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
    "column_pairs",
    multiple=True,
    metavar="OURS=HEADER",
    help="Our column's header in TIMES; for text_id several, separated by commas.",
)
@click.option("--drop-unmatched", is_flag=True, help="Leave out times that have no surprisal.")
def join(
    times: Path,
    tables: tuple[Path, ...],
    out: Path,
    spillover: int,
    frequencies: Path | None,
    first_position: int,
    column_pairs: tuple[str, ...],
    drop_unmatched: bool,
) -> None:
    """Join TIMES to SURPRISAL.

    TIMES has a row for each participant and word or region; SURPRISAL are tables that `parallax lm
    surprisal` wrote, of one model each. The command stops on data that do not match.
    """
    require_suffix(out, *_DIVIDERS)
    if wrong := [pair for pair in column_pairs if "=" not in pair]:
        raise AnalysisError(f'"{wrong[0]}" names no header', expected="--column rt_ms=HEADER")
    pairs = (pair.partition("=") for pair in column_pairs)
    times_table = read_times(times, {column: header for column, _, header in pairs}, first_position)
    surprisal, columns = _join_surprisal_tables(tables)
    log_frequencies = read_frequencies(frequencies) if frequencies else None
    predictors = add_predictors(surprisal, columns, spillover, log_frequencies)
    joined, notes = join_times(times_table.frame, predictors, times, drop_unmatched=drop_unmatched)
    if log_frequencies is not None and (n_missing := int(joined["log_frequency"].isna().sum())):
        notes.append(f"{n_missing:,} words or regions have no frequency.")
    with atomic_write(out) as temporary:
        joined.to_csv(
            temporary, sep=_DIVIDERS[out.suffix], index=False, na_rep="NA", lineterminator="\n"
        )
    for sentence in (*times_table.notes, *notes):
        click.echo(sentence)
    click.echo(f"{out}: {len(joined):,} times of {joined[KEYS].drop_duplicates().shape[0]:,} words")
    click.echo(f"In R: {_suggest_formula(joined, columns, out)}")


def _join_surprisal_tables(tables: Sequence[Path]) -> tuple[pd.DataFrame, list[str]]:
    """Return the joined surprisal tables; with several, each column is named after its file."""
    joined_table, columns = pd.DataFrame(), list[str]()
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
        if joined_table.empty:
            joined_table = frame
            continue
        merged = joined_table.merge(frame, "outer", on=[*KEYS, "text"], indicator=True)
        if (merged["_merge"] != "both").any():
            first_unmatched = merged[merged["_merge"] != "both"].iloc[0]
            raise AnalysisError(
                f"the tables are not of the same texts: text {first_unmatched['text_id']}, "
                "position "
                f'{first_unmatched["position"]}, "{first_unmatched["text"]}" is in only one of '
                "them",
                where=", ".join(map(str, tables)),
                expected="the same texts, divided in the same way",
            )
        joined_table = merged.drop(columns="_merge")
    return joined_table, columns


def _suggest_formula(joined: pd.DataFrame, columns: Sequence[str], out: Path) -> str:
    predictors = [*columns, "length", *(["log_frequency"] if "log_frequency" in joined else [])]
    spillover_predictors = [name for name in joined.columns if name.startswith("prev1_")]
    groups = [name for name in ("participant", "text_id") if name in joined]
    random = [f"(1 | {name})" for name in groups]
    reader = "read.csv" if out.suffix == ".csv" else "read.delim"
    return (
        "lme4::lmer(log(rt_ms) ~ "
        f'{" + ".join([*predictors, *spillover_predictors, *random])}, {reader}("{out.name}"))'
    )


# The first name is Parallax's; the others are used by Ibex, Maze and reading-time corpora.
HEADER_NAMES: Mapping[str, tuple[str, ...]] = {
    "text_id": ("text_id", "item_id", "sentence_id", "item", "sent_id", "sentence_number"),
    "position": ("position", "word_index", "word_number", "wordnum", "word_position", "region",
                 "region_index", "region_number", "word_num", "zone"),
    "text": ("text", "word", "region_text", "token"),
    "rt_ms": ("rt_ms", "rt", "reading_time", "readingtime", "time_ms", "response_time"),
    "participant": ("participant", "participant_id", "subject", "subj", "workerid", "worker_id"),
}  # fmt: skip
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Times:
    """A table of reading times.

    Attributes:
        frame: text_id, position (from 1), rt_ms, and, if the file has them, participant, text and
            its other columns.
        notes: The decisions made while reading, in sentences.
    """

    frame: pd.DataFrame
    notes: tuple[str, ...]


def read_times(path: Path, header_by_column: Mapping[str, str], first_position: int = 1) -> Times:
    """Read a table of reading times or Maze times.

    Args:
        path: The table (a name ending in .csv or .tsv, .txt, .xlsx, .jsonl).
        header_by_column: The file's header for each Parallax column; for text_id several headers,
            separated by commas, whose values are joined by hyphens.
        first_position: The number of a text's first word or region in the file.

    Raises:
        AnalysisError: A column is missing, or a value is not a number.
        MaterialsError: The file cannot be read.
    """
    table = read_raw(path)
    columns = _find_columns(table, header_by_column)
    values = pd.DataFrame([row.values for row in table.rows])
    frame = pd.DataFrame({"text_id": values[list(columns["text_id"])].agg("-".join, axis=1)})
    frame["position"] = parse_positions(table, columns["position"][0], first_position)
    frame["rt_ms"] = parse_numbers(table, columns["rt_ms"][0], least=0, missing=True)
    for name in ("participant", "text"):
        if name in columns:
            frame[name] = values[columns[name][0]]
    used = {header for headers in columns.values() for header in headers}
    other_columns = values[[name for name in table.columns if name not in used]]
    clashing_names = other_columns.columns.intersection(frame.columns)
    frame = frame.join(
        other_columns.rename(columns={name: f"own_{name}" for name in clashing_names})
    )
    notes = [f"Read as: {_describe_columns(columns)}."]
    if empty := int(frame["rt_ms"].isna().sum()):
        notes.append(f"{empty:,} of {len(frame):,} times are missing.")
    _refuse_repeated_times(frame, path)
    return Times(frame, tuple(notes))


def _find_columns(
    table: RawTable, header_by_column: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    headers_by_column = {
        column: tuple(headers.split(",")) for column, headers in header_by_column.items()
    }
    for column, headers in headers_by_column.items():
        if unknown := [header for header in headers if header not in table.columns]:
            raise _missing_column_error(table, f'there is no column "{unknown[0]}"')
        if column not in HEADER_NAMES:
            raise _missing_column_error(table, f'Parallax has no column "{column}"')
    by_key = {key_of(name): name for name in reversed(table.columns)}
    for column, names in HEADER_NAMES.items():
        for name in names:
            if column not in headers_by_column and name in by_key:
                headers_by_column[column] = (by_key[name],)
    for column in ("text_id", "position", "rt_ms"):
        if column not in headers_by_column:
            raise _missing_column_error(table, f'no column holds the "{column}"')
    return headers_by_column


def _missing_column_error(table: RawTable, problem: str) -> AnalysisError:
    return AnalysisError(
        problem,
        where=str(table.path),
        expected=f"columns for {', '.join(HEADER_NAMES)}; the last two may be missing",
        remedy=f"Name it: --column rt_ms=HEADER. The columns are {', '.join(table.columns)}",
    )


def _describe_columns(headers_by_column: Mapping[str, Sequence[str]]) -> str:
    return ", ".join(
        f"{column} from {'-'.join(headers)}" for column, headers in headers_by_column.items()
    )


def _refuse_repeated_times(frame: pd.DataFrame, path: Path) -> None:
    if "participant" not in frame:
        return
    repeated_rows = frame[frame.duplicated(["participant", *KEYS])]
    if len(repeated_rows):
        first_repeated = repeated_rows.iloc[0]
        raise AnalysisError(
            f"{len(repeated_rows):,} times are repeated; the first: participant "
            f"{first_repeated['participant']}, "
            f"text {first_repeated['text_id']}, position {first_repeated['position']}",
            where=str(path),
            expected="one time for each combination of participant, text and position",
            remedy=(
                "If a text occurs in several conditions, name both columns: --column "
                "text_id=item,condition"
            ),
        )


def join_times(
    times: pd.DataFrame, predictors: pd.DataFrame, where: Path, *, drop_unmatched: bool = False
) -> tuple[pd.DataFrame, list[str]]:
    """Join the times with the predictors of the words read, and return notes in sentences.

    Args:
        times: Times from ``read_times``.
        predictors: Predictors from ``add_predictors``.
        where: The file of times, for messages.
        drop_unmatched: Whether to drop times of words without a surprisal.

    Raises:
        AnalysisError: A time has no surprisal, or its word differs from the surprisal's word.
    """
    joined = times.merge(
        predictors, "left", on=KEYS, suffixes=("", "_scored"), validate="m:1", indicator=True
    )
    has_no_surprisal = joined["_merge"] == "left_only"
    if has_no_surprisal.any() and not (drop_unmatched and not has_no_surprisal.all()):
        first_lost = joined[has_no_surprisal].iloc[0]
        raise AnalysisError(
            f"{int(has_no_surprisal.sum()):,} of {len(joined):,} times have no surprisal; the "
            "first: text "
            f"{first_lost['text_id']}, position {first_lost['position']}",
            where=str(where),
            expected="the same texts and word positions as in the surprisal table",
            remedy="Check the texts' ids, --first-position and how the text was divided; "
            "--drop-unmatched leaves these times out",
        )
    joined = joined[~has_no_surprisal].drop(columns="_merge")
    notes = (
        [f"{int(has_no_surprisal.sum()):,} times without surprisal were left out."]
        if has_no_surprisal.any()
        else []
    )
    if "text" in times:
        _refuse_other_words(joined, where)
        joined = joined.drop(columns="text_scored")
    unread = len(predictors) - len(joined[KEYS].drop_duplicates())
    if unread:
        notes.append(f"{unread:,} of {len(predictors):,} words or regions have no reading times.")
    return joined.reset_index(drop=True), notes


def _refuse_other_words(joined: pd.DataFrame, where: Path) -> None:
    differs = joined["text"].map(normalise_word) != joined["text_scored"].map(normalise_word)
    if differs.any():
        rows = joined[differs].drop_duplicates(KEYS)
        examples = "; ".join(
            f'text {row["text_id"]}, position {row["position"]}: "{row["text"]}" was read, '
            f'"{row["text_scored"]}" was scored'
            for _, row in rows.head(_SHOWN).iterrows()
        )
        raise AnalysisError(
            f"{len(rows):,} words or regions differ from those that were scored: {examples}",
            where=str(where),
            expected="the same words except for capitals and punctuation",
            remedy="Score the texts that were read, divided into the same words or regions",
        )
