"""Convert a file of judgments and a file of items to an exported run for comparison."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.data.categorical import find_codes, have_equal_text, take_values
from analysis.data.facts import RunFacts
from analysis.data.load import PEOPLE, ExportedRun
from analysis.data.own_columns import prefix_own_columns
from analysis.errors import AnalysisError
from analysis.readers.accounting import Accounting
from analysis.readers.checks import (
    check_stated_accuracy,
    check_texts,
    describe_import,
    refuse_doubled_judgments,
    remove_copies,
)
from analysis.readers.colorless_green import read_colorless_green
from analysis.readers.guess_wide import name_by_labels
from analysis.readers.item_identity import refuse_unknown
from analysis.readers.long_form import to_long
from analysis.readers.mapping import TableMap, parse_truth, read_mapping, values_in_mapping
from analysis.readers.plausibility import check_times
from analysis.readers.several_options import OPTIONS, add_choices, are_options_offered
from analysis.readers.single_answers import add_answers, answer_column
from analysis.readers.sources import Source, empty_missing_marks, read_source
from analysis.readers.texts import Options, resolve_versions
from experiment.errors import MaterialsError, find_repeated
from experiment.materials.formats.files import is_materials, open_materials
from experiment.materials.formats.pairs import NoPairsError
from experiment.materials.formats.read import read_materials
from experiment.materials.item_rows import item_row
from experiment.materials.read import load_items, materials_hash
from experiment.participation import State
from experiment.records import Item, Side, Variant
from experiment.studies.design import Design, Square
from experiment.studies.load import load_study
from experiment.studies.study import About, Construction, Materials, Simulation, Study

_SHOWN, _AT_ONCE = 5, 500_000


def read_judgments(path: Path, items: Path | None, mapping: Path | None = None) -> ExportedRun:
    """Read judgments of any source as an exported run.

    Args:
        path: The judgments: a table in Parallax's long form, any table with a mapping, or the
            published table of Gulordava et al. (2018), which contains its items.
        items: The items table; ``parallax lm score`` accepts the same file.
        mapping: The meaning of the columns.

    Raises:
        AnalysisError: A column is missing, a value is not known, or an item is not in the items.
        ParallaxError: The items cannot be read.
    """
    meaning = read_mapping(mapping)
    source = read_source(path, meaning.headers)
    if source.is_colorless_green:
        published = read_colorless_green(source.table, path)
        if published.long.empty:
            raise AnalysisError(
                "the table holds models' scores, not people's judgments",
                where=str(path),
                remedy="`parallax import judgments` writes its scores, `parallax lm accuracy` "
                "reads them",
            )
        return judgments_as_run(published.long, published.items, path)
    if items is None:
        raise missing_items_error(path)
    study = _load_study(items)
    run = interpret_source(source, meaning, read_known_items(items, study), decided=False).run
    return _adopt_questions(run, study) if study else run


def _adopt_questions(run: ExportedRun, study: Study) -> ExportedRun:
    """Return judgments collected elsewhere with the questions that their study declares."""
    questions = {
        "study": run.study.study.model_copy(
            update={"title": study.study.title, "language": study.study.language}
        ),
        "constructions": study.constructions,
        "coding": study.coding,
        "analysis": study.analysis,
        "comparisons": study.comparisons,
    }
    return replace(run, study=run.study.model_copy(update=questions))


def missing_items_error(path: Path) -> AnalysisError:
    """Return the error for a file of judgments given without its items."""
    return AnalysisError(
        "the file of judgments does not say which items were judged",
        where=str(path),
        expected="a table of the items in the same folder",
        remedy="Name that table with --items",
    )


def read_known_items(path: Path, study: Study | None = None) -> list[Item]:
    """Return the items of a table or of a study (``study``, if it has been read), each id once.

    Raises:
        AnalysisError: The table has no items, or an id occurs twice.
        ParallaxError: The table cannot be read.
    """
    study = study or _load_study(path)
    items = list(load_items(study)) if study else _read_table(path)
    ids = [item.item_id for item in items]
    repeated = find_repeated(ids)
    if repeated or not items:
        raise AnalysisError(
            f"{len(repeated)} item(s) occur more than once; the first: "
            f"{', '.join(repeated[:_SHOWN])}"
            if repeated
            else "the table has no items",
            where=str(path),
            expected="at least one item, each item_id once",
        )
    return items


def _load_study(path: Path) -> Study | None:
    """Return the study that the items are of; None for a file, which is a table."""
    return None if path.is_file() or is_materials(str(path)) else load_study(str(path))


def _read_table(path: Path) -> list[Item]:
    """Return the items of a table; they may be single sentences."""
    try:
        return list(open_materials(path).items())
    except MaterialsError as of_pairs:
        if path.is_dir():
            raise
        try:
            return list(read_materials(path, identical=True, alone=True).items)
        except MaterialsError as of_sentences:
            raise (of_sentences if isinstance(of_pairs, NoPairsError) else of_pairs) from None


@dataclass(frozen=True, slots=True)
class Imported:
    """A source's judgments as a run, and the accounting of every part of the source."""

    run: ExportedRun
    account: Accounting


def interpret_source(
    source: Source, mapping: TableMap, items: Sequence[Item], *, decided: bool = True
) -> Imported:
    """Convert a source's judgments to a run by a mapping, with every cell accounted for.

    Args:
        source: The source.
        mapping: The meaning of its columns.
        items: The items.
        decided: Whether the mapping must decide about copies of judgments; if not, only a file that
            repeats every judgment is refused.

    Raises:
        AnalysisError: The mapping does not fit the table, or the table not the items; texts
            contradict ids, or the source's own accuracy contradicts the judgments.
    """
    path = source.path
    source = name_by_labels(source, items)
    source = empty_missing_marks(source, values_in_mapping(mapping))
    long_form = to_long(source.table, mapping, path, items)
    rows, account = long_form.rows, long_form.account
    account.before = dict(source.left_out)
    account.attention += source.notes
    refuse_unknown(rows["item"], items, path)
    check_texts(rows, source.table, items, mapping, account)
    if decided:
        rows = remove_copies(rows, source.table, mapping, account)
    else:
        refuse_doubled_judgments(rows, source.table, str(path))
    if answer_column(rows):
        as_correct = rows.drop(columns="chosen", errors="ignore").assign(correct="true")
        run = add_answers(judgments_as_run(as_correct, items, path), rows, items, account, path)
        describe_import(run, items, account)
        account.balance()
        return Imported(run, account)
    texts = {item.item_id: Options(item) for item in items}
    if are_options_offered(rows, items, mapping, texts):
        as_correct = rows.drop(columns=["chosen", "option_first"], errors="ignore")
        run = judgments_as_run(as_correct.assign(correct="true"), items, path)
        run = add_choices(run, rows, source.table, items, mapping, path)
    else:
        rows = rows.drop(columns=OPTIONS, errors="ignore")
        run = judgments_as_run(resolve_versions(rows, items, path), items, path)
    check_stated_accuracy(rows, source.table, run.responses["chose_good"], mapping, account)
    describe_import(run, items, account)
    account.balance()
    return Imported(run, account)


def judgments_as_run(long: pd.DataFrame, items: Sequence[Item], path: Path) -> ExportedRun:
    """Convert judgments in the long form to an exported run.

    Args:
        long: Columns as in ``analysis.readers.mapping.LONG``; without ``participant``, participants
            are unknown.
        items: The items.
        path: The file of the judgments.
    """
    item_table = pd.DataFrame([item_row(item) for item in items])
    rows = _complete_rows(_refuse_model_judgments(long, path), item_table, path)
    check_times(rows["rt_ms"], str(path))
    people = rows.drop_duplicates("participant")
    return ExportedRun(
        folder=path,
        facts=make_facts(path, items),
        study=make_study(path, item_table, rows),
        items=prefix_own_columns(item_table),
        participants=pd.DataFrame(
            {
                "participant": people["participant"],
                "simulated": False,
                "state": State.FINISHED.value,
                "list": people["list"],
                "consented_at": pd.NaT,
            }
        ),
        trials=rows[["participant", "position", "item_id", "kind", "good_side"]],
        responses=rows[
            [
                "participant", "position", "item_id", "chosen_side", "chose_good", "rt_ms",
                "input_method",
            ]
        ],
        verdicts=pd.DataFrame(
            {
                "participant": people["participant"],
                "kept": people["kept"],
                "rule": people["kept"].map({True: "", False: "published exclusion"}),
            }
        ),
    )  # fmt: skip


def _refuse_model_judgments(long: pd.DataFrame, path: Path) -> pd.DataFrame:
    judges = set(long["judge"].dropna().unique()) - {PEOPLE, ""} if "judge" in long else set()
    if judges:
        raise AnalysisError(
            f'some judgments are of the judge "{min(judges)}"',
            where=str(path),
            expected=f'the judge "{PEOPLE}" alone',
            remedy="Leave models out; their scores come with --scores",
        )
    return long


def _complete_rows(long: pd.DataFrame, items: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return one row per judgment with every column of an export."""
    rows = long.rename(columns={"item": "item_id"}).reset_index(drop=True)
    # Store texts as codes, since there may be millions of judgments.
    codes = find_codes(rows["item_id"], pd.Index(items["item_id"]))
    contrast = take_values(items["contrast"], codes)
    good = _derive_chose_good(rows, contrast, path)
    first_version = (
        rows["option_first"] if "option_first" in rows else pd.Series(Variant.GOOD, rows.index)
    )
    good_first = (first_version == Variant.GOOD).to_numpy(dtype=bool)
    person = rows["participant"] if "participant" in rows else pd.Series(None, rows.index, object)
    position = rows.groupby(person, dropna=False, observed=True).cumcount() + 1
    return pd.DataFrame(
        {
            "participant": person,
            "position": position.astype("int32"),
            "item_id": take_values(items["item_id"], codes),
            "kind": take_values(items["kind"], codes),
            "list": _number_values(rows, "list"),
            "good_side": _to_sides(good_first),
            "chosen_side": _to_sides(good_first == good.to_numpy(dtype=bool)),
            "chose_good": good,
            "rt_ms": _parse_numbers(rows, "rt_ms", path),
            "input_method": None,
            "kept": _parse_kept(rows, path),
        }
    )


def _to_sides(is_first: NDArray[np.bool_]) -> "pd.Categorical[str]":
    return pd.Categorical.from_codes(
        1 - is_first.astype(int), pd.Index([Side.FIRST.value, Side.SECOND.value])
    )


def _derive_chose_good(
    rows: pd.DataFrame, contrast: pd.Categorical, path: Path
) -> "pd.Series[bool]":
    if "chosen" not in rows:
        return _parse_truth(rows["correct"], path)
    is_alternative = have_equal_text(rows["chosen"], pd.Series(contrast))
    strange = rows.loc[(rows["chosen"] != Variant.GOOD) & ~is_alternative, "chosen"]
    if len(strange):
        raise AnalysisError(
            f'"{strange.iloc[0]}" is not one of the options',
            where=f'{path}, the column "chosen"',
            expected='"good", or the version against it: "bad" or "distractor"',
            remedy="Translate the values below [values.chosen] in a mapping file",
        )
    chose_good = rows["chosen"] == Variant.GOOD
    if "correct" in rows and (chose_good != _parse_truth(rows["correct"], path)).any():
        raise AnalysisError(
            'the columns "chosen" and "correct" contradict each other', where=str(path)
        )
    return chose_good


def _parse_truth(values: "pd.Series[str]", path: Path) -> "pd.Series[bool]":
    parsed = parse_truth(values, str(values.name), path)
    if n_empty := int(parsed.isna().sum()):
        raise AnalysisError(
            f'the column "{values.name}" does not say right or wrong in {n_empty} row(s)',
            where=str(path),
            expected="true or false, 1 or 0, yes or no",
            remedy=f'Leave such trials out with skip_blank = ["{values.name}"] in a mapping',
        )
    return parsed.astype(bool)


def _parse_kept(rows: pd.DataFrame, path: Path) -> "pd.Series[bool]":
    return _parse_truth(rows["kept"], path) if "kept" in rows else pd.Series(True, rows.index)


def _parse_numbers(rows: pd.DataFrame, name: str, path: Path) -> "pd.Series[float]":
    if name not in rows:
        return pd.Series(float("nan"), rows.index)
    try:
        # Convert in chunks: each text is a Python object until converted to a number.
        values = rows[name].replace("", None)
        chunks = [values.iloc[n : n + _AT_ONCE] for n in range(0, len(values), _AT_ONCE)]
        numbers = pd.concat([pd.to_numeric(chunk).astype(float) for chunk in chunks])
    except (ValueError, TypeError) as error:
        raise AnalysisError(
            f'the column "{name}" holds a value that is not a number: '
            f'"{values[pd.to_numeric(values, errors="coerce").isna() & values.notna()].iloc[0]}"',
            where=str(path),
            expected="numbers, or empty cells where nothing was measured",
        ) from error
    strange = int((numbers.isin([float("inf"), float("-inf")]) | (numbers < 0)).sum())
    if strange:
        raise AnalysisError(
            f'the column "{name}" is infinite or negative in {strange} row(s)',
            where=str(path),
            expected="times in milliseconds, or empty cells where none was measured",
        )
    return numbers


def _number_values(rows: pd.DataFrame, name: str) -> "pd.Series[int]":
    return pd.Series(pd.factorize(rows[name])[0] if name in rows else 0, rows.index)


def make_facts(path: Path, items: Sequence[Item]) -> RunFacts:
    """Return the facts about a run whose judgments another program collected."""
    return RunFacts(
        run=path.name,
        study="",
        study_version="",
        seed=0,
        materials_hash=materials_hash(items),
        recruiter="unknown",
        simulated=False,
        launched_at=None,
        code_version="none",
        rendering="unknown",
    )


def make_study(path: Path, items: pd.DataFrame, rows: pd.DataFrame) -> Study:
    """Return a study with the items' constructions; all else is unknown."""
    people = rows.groupby("participant").size()
    name = "s_" + re.sub(r"\W+", "_", path.stem.lower(), flags=re.ASCII).strip("_")
    return Study(
        folder=path.with_suffix(""),
        study=About(name=name, title=path.stem, version="1", language="en"),
        materials=Materials(items=path.name),
        constructions=[
            Construction(name=name, title=re.sub("_+", " ", name))
            for name in items["construction"].unique()
        ],
        design=Design(
            lists=int(rows["list"].nunique()),
            participants_per_list=max(1, len(people) // int(rows["list"].nunique())),
            trials_per_list=int(people.max()) if len(people) else len(rows),
            squares=[Square(templates=sorted(set(items["template"])) or ["unknown"])],
        ),
        simulation=Simulation(mix={"accurate": 1.0}),
    )
