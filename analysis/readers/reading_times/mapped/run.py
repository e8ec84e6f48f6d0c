"""Reading times of other studies with their design, as a run for ``parallax compare``.

The table has a row for each participant and word or region (or, with ``{n}`` in the mapping, a
column for each region). A mapping says what its columns mean, which region is the critical one, and
what is compared. Regions are placed by their numbers and never by the order of rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from analysis.data.load import ExportedRun
from analysis.data.own_columns import prefix_own_columns
from analysis.errors import AnalysisError
from analysis.readers.judgments import make_facts, make_study
from analysis.readers.reading_times.mapped.checks import check_rows, sort_by_design
from analysis.readers.reading_times.mapped.mapping import (
    CRITICAL,
    TEXT_KEYS,
    TRIAL_KEYS,
    TimesMapping,
    collect_named_values,
    give_roles,
    join_texts,
    keep_rows,
    read_times_mapping,
    refuse_doubled_headers,
)
from analysis.readers.reading_times.mapped.regions import refuse_foreign_sentences
from analysis.readers.sources import Source, empty_missing_marks, read_source
from experiment.comparisons.check import comparison_mistakes
from experiment.materials.item_rows import item_row
from experiment.participation import State
from experiment.records import PAIR, Item, Kind, Variant
from experiment.responses.reading.alignment import find_misaligned
from experiment.responses.reading.maze import NO_WORD, Maze
from experiment.responses.reading.reading import Read
from experiment.responses.reading.self_paced import SelfPaced
from experiment.studies.study import Materials, Study, Trials

_GAP_SIGN = "\N{HORIZONTAL ELLIPSIS}"


@dataclass(frozen=True, slots=True)
class MappedTimes:
    """Reading times as a run, and what was left out or could not be checked, in sentences."""

    run: ExportedRun
    notes: tuple[str, ...]


def read_mapped_times(
    path: Path, mapping: Path | None = None, texts: Path | None = None
) -> MappedTimes:
    """Read a table of reading times with its design.

    Args:
        path: The table: any delimited file, or one that ``parallax reading import`` wrote.
        mapping: What its columns mean (``TimesMapping``).
        texts: A table with a row for each text that was read, joined by ``text_id``: its item,
            condition, critical region, and columns of the items. Times of other texts are left out.

    Raises:
        AnalysisError: A column is missing or contradicts another, or conditions do not align.
    """
    meaning = read_times_mapping(mapping)
    source = read_source(path, meaning.headers, meaning.sheet)
    refuse_doubled_headers(source, meaning)
    kept, notes = keep_rows(source, meaning)
    source = empty_missing_marks(
        Source(path, source.format, kept, notes=()), collect_named_values(meaning)
    )
    rows = give_roles(source.table, meaning, path)
    if texts is not None:
        rows, further_notes = join_texts(rows, texts, meaning)
        notes += further_notes
    rows, further_notes = check_rows(rows, meaning, path)
    rows = sort_by_design(rows, meaning)
    _refuse_no_times(rows["rt_ms"].dropna(), meaning, path)
    notes += further_notes
    items = list(_make_items(rows, meaning, path))
    refuse_foreign_sentences(rows, path)
    response = _make_response(rows, meaning)
    for _, fault in find_misaligned(response, items, CRITICAL):
        raise AnalysisError(
            fault.problem,
            where=str(path),
            expected=fault.expected,
            remedy="Correct the regions or the critical one; where they are right as they are, "
            'leave "text" out of [columns], and only your own region numbers align them',
        )
    run = _make_run(rows, items, meaning, path)
    for _, error in comparison_mistakes(run.study, items):
        raise error
    notes += _describe(rows, run)
    return MappedTimes(run, tuple(notes))


def _refuse_no_times(rt_ms: "pd.Series[float]", meaning: TimesMapping, path: Path) -> None:
    least, most = meaning.analysis.least_rt_ms, meaning.analysis.most_rt_ms
    if not rt_ms.between(least, most).any():
        raise AnalysisError(
            f"no time is between least_rt_ms ({least:g}) and most_rt_ms ({most:g}); the median of "
            f"{len(rt_ms):,} is {rt_ms.median():g} ms",
            where=str(path),
            expected="times in milliseconds or seconds, and not their logarithms",
            remedy='Write rt_unit = "s" in the mapping if these are seconds',
        )


def _make_items(rows: pd.DataFrame, meaning: TimesMapping, path: Path) -> Iterator[Item]:
    """Yield an item for each construction, item and condition, with the regions that were read."""
    is_maze = "correct" in rows
    own = [name for name in rows if str(name).startswith("own_")]
    has_critical = rows["relative"].notna().any()
    ids = _make_item_ids(rows)
    for (construction, item, condition, _), part in rows.groupby(TEXT_KEYS, sort=False):
        places = part.drop_duplicates("position").set_index("position")
        begin, end = int(places.index.min()), int(places.index.max())
        # A sentence of which one region is in the table has others that were read before it.
        begin -= begin == end
        texts = []
        for position in range(begin, end + 1):
            text = _GAP_SIGN
            if position in places.index:
                row = places.loc[position]
                relative = row["relative"]
                label: str = str(position) if pd.isna(relative) else f"{relative:+d}"
                text = row.get("text", "") or row.get("region", "") or f"region {label}"
            texts.append("_".join(str(text).replace("|", "/").split()))
        extra = {str(name).removeprefix("own_"): str(part[name].iloc[0]) for name in own}
        if is_maze:
            extra["good_distractors"] = " ".join([NO_WORD] * len(texts))
        if has_critical:
            critical = places.index[places["relative"] == 0]
            extra[CRITICAL] = str(int(critical.min()) - begin + 1)
        yield Item(
            item_id=ids.loc[part.index[0]],
            kind=Kind.TARGET,
            construction=str(construction),
            condition=str(condition),
            template=str(construction),
            features="",
            frame=f"ITEM={'_'.join(str(item).split())}",
            context="",
            good=" ".join(texts),
            bad="",
            extra=tuple(extra.items()),
        )


def _make_response(rows: pd.DataFrame, meaning: TimesMapping) -> Read:
    type_ = Maze if "correct" in rows else SelfPaced
    return type_.model_validate(_make_parameters(rows, meaning))


def _make_parameters(rows: pd.DataFrame, meaning: TimesMapping) -> dict[str, object]:
    critical = {"critical": CRITICAL} if rows["relative"].notna().any() else {}
    return {"wrong_answers": meaning.wrong_answers, **critical}


def _make_run(
    rows: pd.DataFrame, items: Sequence[Item], meaning: TimesMapping, path: Path
) -> ExportedRun:
    rows = _number_trials(rows)
    ids = _make_item_ids(rows)
    begins = rows.groupby(TEXT_KEYS, sort=False)["position"].transform("min")
    alone = begins == rows.groupby(TEXT_KEYS, sort=False)["position"].transform("max")
    step = rows["position"] - begins + 1 + alone.astype(int)
    readings = pd.DataFrame(
        {
            "participant": rows["participant"], "position": rows["place"], "step": step,
            "item_id": ids, "version": Variant.GOOD.value, "region": step,
            "text": rows.get("text", ""), "rt_ms": rows["rt_ms"],
            "judge": "people",
        }
    )  # fmt: skip
    if rows["relative"].notna().any():
        readings["relative_region"] = rows["relative"]
    if "correct" in rows:
        readings["correct"] = rows["correct"].fillna(value=False)
    trials = rows.assign(item_id=ids).drop_duplicates(["participant", "place"])
    right = trials.get("question_correct", None)
    chosen = pd.Series(None, trials.index, object)
    if right is not None:
        chosen = right.map({True: PAIR[0], False: PAIR[1]}).astype(object)
    trials = pd.DataFrame(
        {
            "participant": trials["participant"],
            "position": trials["place"].astype("int32"),
            "item_id": trials["item_id"],
            "kind": Kind.TARGET.value,
            "good_side": chosen.where(chosen.isna(), PAIR[0]),
            "chosen_side": chosen,
            "chose_good": pd.array([None] * len(trials), "boolean") if right is None else right,
            "version": Variant.GOOD.value,
            "rt_ms": float("nan"),
            "input_method": None,
        }
    ).reset_index(drop=True)
    people = list(dict.fromkeys(rows["participant"]))
    table = pd.DataFrame([item_row(item) for item in items])
    return ExportedRun(
        folder=path,
        facts=make_facts(path, items),
        study=_make_mapped_study(path, table, rows, trials, meaning),
        items=prefix_own_columns(table),
        participants=pd.DataFrame(
            {"participant": people, "simulated": False, "state": State.FINISHED.value, "list": 0,
             "consented_at": pd.NaT}
        ),
        trials=trials[["participant", "position", "item_id", "kind", "good_side"]],
        responses=trials.drop(columns=["kind", "good_side"]),
        verdicts=pd.DataFrame({"participant": people, "kept": True, "rule": ""}),
        readings=readings.reset_index(drop=True),
    )  # fmt: skip


def _make_item_ids(rows: pd.DataFrame) -> "pd.Series[str]":
    ids = rows["construction"] + "-" + rows["item"] + "-" + rows["condition"]
    several = rows.groupby(TEXT_KEYS[:-1])["text_id"].transform("nunique") > 1
    return ids.where(~several, ids + "-" + rows["text_id"])


def _number_trials(rows: pd.DataFrame) -> pd.DataFrame:
    """Number each participant's trials: by the column of trials, else in the order of the rows."""
    key = [*TRIAL_KEYS, *(["trial"] if "trial" in rows else [])]
    codes = rows.groupby(key, sort=False).ngroup()
    firsts = rows.assign(code=codes).drop_duplicates("code")
    if "trial" in rows:
        number = pd.to_numeric(firsts["trial"], errors="coerce")
        firsts = firsts.assign(number=number).sort_values("number", kind="stable")
    places = firsts.groupby("participant", sort=False).cumcount() + 1
    by_code = dict(zip(firsts["code"], places, strict=True))
    return rows.assign(place=codes.map(by_code))


def _make_mapped_study(
    path: Path,
    table: pd.DataFrame,
    rows: pd.DataFrame,
    trials: pd.DataFrame,
    meaning: TimesMapping,
) -> Study:
    study = make_study(path, table, trials.assign(list=0))
    return study.model_copy(
        update={
            "response": "maze" if "correct" in rows else "self_paced",
            "trial": Trials(parameters=_make_parameters(rows, meaning)),
            "materials": Materials(items=path.name),
            "analysis": meaning.analysis.model_copy(
                update={"factors": meaning.analysis.factors or tuple(meaning.levels)}
            ),
            "comparisons": meaning.comparisons,
        }
    )


def _describe(rows: pd.DataFrame, run: ExportedRun) -> list[str]:
    """Return sentences on what was read, and on what could not be checked."""
    notes = [
        f"{len(rows):,} rows: {rows['participant'].nunique():,} participants, "
        f"{rows['item'].nunique():,} items, conditions "
        f"{', '.join(dict.fromkeys(rows['condition']))}."
    ]
    critical = rows[rows["relative"] == 0] if rows["relative"].notna().any() else rows.iloc[:0]
    if len(critical) and "text" in rows:
        examples = critical.drop_duplicates(["condition"])
        words = [f'{row["condition"]} "{row["text"]}"' for row in examples.to_dict("records")]
        notes.append(f"The critical region, in the first item of each: {', '.join(words)}.")
    if "text" not in rows:
        notes.append(
            "The table has no texts, so nothing can check that regions of the same number "
            "correspond."
        )
    return notes
