"""``parallax lm reading-times``: join reading and Maze times with surprisal for mixed models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import pandas as pd

from analysis.data.word_predictors import (
    KEYS,
    numbers,
    plain_word,
    positions,
    read_frequencies,
    read_surprisal,
    with_predictors,
)
from analysis.errors import AnalysisError
from experiment.materials.formats.columns import key_of
from experiment.materials.formats.raw import RawTable, read_raw
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


# The first name is Parallax's; the others are used by Ibex, Maze and reading-time corpora.
NAMES: Mapping[str, tuple[str, ...]] = {
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


def read_times(path: Path, named: Mapping[str, str], first_position: int = 1) -> Times:
    """Read a table of reading times or Maze times.

    Args:
        path: The table (.csv, .tsv, .txt, .xlsx, .jsonl).
        named: The file's header for each Parallax column; for text_id several headers, separated by
            commas, whose values are joined by hyphens.
        first_position: The number of a text's first word or region in the file.

    Raises:
        AnalysisError: A column is missing, or a value is not a number.
        MaterialsError: The file cannot be read.
    """
    table = read_raw(path)
    found = _columns(table, named)
    values = pd.DataFrame([row.values for row in table.rows])
    frame = pd.DataFrame({"text_id": values[list(found["text_id"])].agg("-".join, axis=1)})
    frame["position"] = positions(table, found["position"][0], first_position)
    frame["rt_ms"] = numbers(table, found["rt_ms"][0], least=0, missing=True)
    for name in ("participant", "text"):
        if name in found:
            frame[name] = values[found[name][0]]
    used = {header for headers in found.values() for header in headers}
    others = values[[name for name in table.columns if name not in used]]
    taken = others.columns.intersection(frame.columns)
    frame = frame.join(others.rename(columns={name: f"own_{name}" for name in taken}))
    notes = [f"Read as: {_named(found)}."]
    if empty := int(frame["rt_ms"].isna().sum()):
        notes.append(f"{empty:,} of {len(frame):,} times are missing.")
    _refuse_repeated(frame, path)
    return Times(frame, tuple(notes))


def _columns(table: RawTable, named: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    found = {ours: tuple(headers.split(",")) for ours, headers in named.items()}
    for ours, headers in found.items():
        if unknown := [header for header in headers if header not in table.columns]:
            raise _lacking(table, f'there is no column "{unknown[0]}"')
        if ours not in NAMES:
            raise _lacking(table, f'Parallax has no column "{ours}"')
    by_key = {key_of(name): name for name in reversed(table.columns)}
    for ours, names in NAMES.items():
        for name in names:
            if ours not in found and name in by_key:
                found[ours] = (by_key[name],)
    for ours in ("text_id", "position", "rt_ms"):
        if ours not in found:
            raise _lacking(table, f'no column holds the "{ours}"')
    return found


def _lacking(table: RawTable, problem: str) -> AnalysisError:
    return AnalysisError(
        problem,
        where=str(table.path),
        expected=f"columns for {', '.join(NAMES)}; the last two may be missing",
        remedy=f"Name it: --column rt_ms=HEADER. The columns are {', '.join(table.columns)}",
    )


def _named(found: Mapping[str, Sequence[str]]) -> str:
    return ", ".join(f"{ours} from {'-'.join(headers)}" for ours, headers in found.items())


def _refuse_repeated(frame: pd.DataFrame, path: Path) -> None:
    if "participant" not in frame:
        return
    twice = frame[frame.duplicated(["participant", *KEYS])]
    if len(twice):
        first = twice.iloc[0]
        raise AnalysisError(
            f"{len(twice):,} times are repeated; the first: participant {first['participant']}, "
            f"text {first['text_id']}, position {first['position']}",
            where=str(path),
            expected="one time for each participant, text and position",
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
        predictors: Predictors from ``with_predictors``.
        where: The file of times, for messages.
        drop_unmatched: Whether to drop times of words without a surprisal.

    Raises:
        AnalysisError: A time has no surprisal, or its word differs from the surprisal's word.
    """
    joined = times.merge(
        predictors, "left", on=KEYS, suffixes=("", "_scored"), validate="m:1", indicator=True
    )
    lost = joined["_merge"] == "left_only"
    if lost.any() and not (drop_unmatched and not lost.all()):
        first = joined[lost].iloc[0]
        raise AnalysisError(
            f"{int(lost.sum()):,} of {len(joined):,} times have no surprisal; the first: text "
            f"{first['text_id']}, position {first['position']}",
            where=str(where),
            expected="the texts and positions of the table of surprisal",
            remedy="Check the texts' ids, --first-position and how the text was divided; "
            "--drop-unmatched leaves these times out",
        )
    joined = joined[~lost].drop(columns="_merge")
    notes = [f"{int(lost.sum()):,} times without surprisal were left out."] if lost.any() else []
    if "text" in times:
        _refuse_other_words(joined, where)
        joined = joined.drop(columns="text_scored")
    unread = len(predictors) - len(joined[KEYS].drop_duplicates())
    if unread:
        notes.append(f"{unread:,} of {len(predictors):,} words or regions have no reading times.")
    return joined.reset_index(drop=True), notes


def _refuse_other_words(joined: pd.DataFrame, where: Path) -> None:
    other = joined["text"].map(plain_word) != joined["text_scored"].map(plain_word)
    if other.any():
        rows = joined[other].drop_duplicates(KEYS)
        shown = "; ".join(
            f'text {row["text_id"]}, position {row["position"]}: "{row["text"]}" was read, '
            f'"{row["text_scored"]}" was scored'
            for _, row in rows.head(_SHOWN).iterrows()
        )
        raise AnalysisError(
            f"{len(rows):,} words or regions differ from those that were scored: {shown}",
            where=str(where),
            expected="the same words except for capitals and punctuation",
            remedy="Score the texts that were read, divided into the same words or regions",
        )
