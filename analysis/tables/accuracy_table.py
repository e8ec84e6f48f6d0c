"""Tables of accuracies: participants, models and publications side by side."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import takewhile
from typing import Literal

import numpy as np
import pandas as pd

from analysis.data.load import PEOPLE
from analysis.statistics.accuracy import ALL, JUDGED
from analysis.statistics.withheld import PEOPLE as FEWEST_PEOPLE
from analysis.statistics.withheld import UNITS, withheld_notes
from analysis.tables.provenance import Provenance
from analysis.tables.section import Section
from experiment.studies.published import Published

Form = Literal["text", "count", "accuracy", "estimate", "number", "signed", "p", "spread"]

# Headings of the columns of published figures; other judges use their own names.
PUBLISHED_HEADINGS = {
    "people": "Humans",
    "rnn": "RNN",
    "multitask": "Multitask",
    "ngram": "n-gram",
}
_MOST_SOURCES = 3
FEW = f"Fewer than {FEWEST_PEOPLE} participants or {UNITS} frames: do not rely on the interval."


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the printed table.

    Attributes:
        key: The frame's column; an estimate also reads ``<key>_low`` and ``<key>_high``, and a note
            on a single cell is in ``<key>_note``, if there is such a column.
        title: The column's heading.
        form: The format of values: "accuracy" and "number" with two decimals, "signed" with a sign,
            "p" as a p value, "spread" in per cent with ``<key>_sd``, if present.
        spanner: The heading shared with neighbouring columns, printed above the title.
    """

    key: str
    title: str
    form: Form = "accuracy"
    spanner: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table ready for typesetting.

    Attributes:
        name: The stem of the file names.
        title: The title, such as "Table 1".
        caption: The caption.
        frame: One row per printed row; ``group`` contains the rows' headings.
        columns: The printed columns, the row's label first.
        notes: Notes about rows and columns.
        origin: The origin of the numbers, in sentences.
        section: The report's section that contains it.
    """

    name: str
    title: str
    caption: str
    frame: pd.DataFrame
    columns: tuple[Column, ...]
    notes: tuple[str, ...]
    origin: tuple[str, ...]
    section: Section = Section.ACCURACY


def accuracy_table(
    name: str,
    title: str,
    caption: str,
    rows: pd.DataFrame,
    accuracy: pd.DataFrame,
    printed: Sequence[Published],
    origin: Provenance,
) -> Table:
    """Return a table of the requested rows, with each judge's accuracy.

    Args:
        name: The stem of the table's file names.
        title: The title.
        caption: The caption.
        rows: ``group``, ``label``, ``construction`` and, for conditions, ``condition``; a non-empty
            column ``published_sentences`` is printed too.
        accuracy: Long form, by the same keys (see ``analysis.statistics.accuracy``).
        printed: The published figures to show.
        origin: The origin of the numbers.
    """
    keys = [key for key in ("construction", "condition") if key in rows.columns]
    models = list(accuracy.loc[accuracy["is_model"], "judge"].unique())
    judges = list(dict.fromkeys(published.judge for published in printed))
    columns_by_judge = [_people_columns(accuracy, keys)]
    columns_by_judge += [side for model in models for side in _model_columns(accuracy, model, keys)]
    columns_by_judge += [_published_columns(printed, judge, keys) for judge in judges]
    aligned = [_align_rows(columns, rows, keys) for columns in columns_by_judge]
    frame = pd.concat([rows.reset_index(drop=True), *aligned], axis=1)
    frame["people_note"] = np.where(
        _have_few_clusters(frame) & frame["people_low"].notna(), FEW, ""
    )
    sentences = "published_sentences" in rows and rows["published_sentences"].notna().any()
    columns = _make_columns(models, judges, sentences=bool(sentences))
    return Table(
        name=name,
        title=title,
        caption=f"{caption} {origin.warning}".strip(),
        frame=frame,
        columns=columns,
        notes=tuple(_make_notes(frame, printed)),
        origin=tuple(origin.sentences),
    )


def _have_few_clusters(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Return the rows whose interval rests on too few participants (if known) or frames."""
    participants = rows["participants"].where(rows["participants"] > 0)
    has_few = (participants < FEWEST_PEOPLE) | (rows["frames"] < UNITS)
    return has_few.fillna(value=False).astype(bool)


def _make_notes(rows: pd.DataFrame, printed: Sequence[Published]) -> list[str]:
    notes = []
    if ((rows["people_interval"] == "wilson") & rows["people_low"].notna()).any():
        notes.append(
            "Where all judgments of a row agree, the interval is Wilson's for the fewer clusters."
        )
    counted_rows = rows[["people", "people_low"]].assign(n_judgments=rows["judgments"])
    notes += withheld_notes(counted_rows, ["people"])
    if printed:
        notes.append(f"Published: {_shorten_sources([published.source for published in printed])}.")
    return notes


def _shorten_sources(source_names: Sequence[str]) -> str:
    """Return the distinct sources; with many, only the part of each before its first comma."""
    distinct_sources = list(dict.fromkeys(source_names))
    if len(distinct_sources) <= _MOST_SOURCES:
        return "; ".join(distinct_sources)
    shared = takewhile(
        lambda parts: len(set(parts)) == 1, zip(*map(_split_source, distinct_sources), strict=False)
    )
    return ", ".join(part for part, *_ in shared) or "; ".join(distinct_sources)


def _split_source(source: str) -> list[str]:
    return source.split(", ")


def _people_columns(accuracy: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    new_names = {
        "accuracy": "people",
        "low": "people_low",
        "high": "people_high",
        "interval": "people_interval",
        "n_judgments": "judgments",
        "n_participants": "participants",
        "n_items": "items",
        "n_frames": "frames",
    }
    people = accuracy.loc[accuracy["judge"] == PEOPLE, [*keys, *new_names]]
    counts = ("n_judgments", "n_participants", "n_items", "n_frames")
    integer_counts = {name: people[name].astype("Int64") for name in counts}
    return people.assign(**integer_counts).rename(columns=new_names)


def _model_columns(accuracy: pd.DataFrame, model: str, keys: list[str]) -> list[pd.DataFrame]:
    of_model = accuracy[accuracy["is_model"] & (accuracy["judge"] == model)]
    sides = []
    for items in (JUDGED, ALL):
        side = of_model.loc[of_model["items"] == items, [*keys, "accuracy", "n_items"]]
        new_names = {"accuracy": f"{model}_{items}", "n_items": f"{model}_{items}_items"}
        sides.append(side.assign(n_items=side["n_items"].astype("Int64")).rename(columns=new_names))
    return sides


def _align_rows(brought: pd.DataFrame, rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return the values at the rows with the same keys; missing where there is none."""
    row_of_key = {
        key: index
        for index, key in enumerate(zip(*(brought[column] for column in keys), strict=True))
    }
    places = [
        row_of_key.get(key, -1) for key in zip(*(rows[column] for column in keys), strict=True)
    ]
    return brought.drop(columns=keys).reset_index(drop=True).reindex(places).reset_index(drop=True)


def _published_columns(printed: Sequence[Published], judge: str, keys: list[str]) -> pd.DataFrame:
    frame = pd.DataFrame([asdict(published) for published in printed if published.judge == judge])
    new_names = {
        "accuracy": f"published_{judge}",
        "source": f"published_{judge}_source",
        "note": f"published_{judge}_note",
    }
    return frame[[*keys, *new_names]].rename(columns=new_names)


def _make_columns(models: list[str], judges: list[str], *, sentences: bool) -> tuple[Column, ...]:
    of_models = [
        column
        for model in models
        for column in (
            Column(f"{model}_{JUDGED}", "judged", spanner=model),
            Column(f"{model}_{ALL}", "all", spanner=model),
        )
    ]
    published = [
        Column(f"published_{judge}", PUBLISHED_HEADINGS.get(judge, judge), spanner="Published")
        for judge in judges
    ]
    return (
        Column("label", "", "text"),
        Column("people", "accuracy", "estimate", spanner="People"),
        Column("judgments", "n", "count", spanner="People"),
        Column("items", "items", "count", spanner="People"),
        *of_models,
        *published,
        *(
            [Column("published_sentences", "Sentences", "count", spanner="Published")]
            if sentences
            else []
        ),
    )
