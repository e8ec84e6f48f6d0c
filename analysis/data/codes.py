"""The codes of typed answers in an export: two coders' categories, and what follows from them."""

import pandas as pd

from analysis.data.frames import read_exported_table
from analysis.data.load import ExportedRun
from analysis.errors import AnalysisError
from experiment.coding.frozen import read_latest_version
from experiment.coding.normalise import normalise
from experiment.coding.rounds import Codes
from experiment.tables.codes import CODES

_TRIAL = ["participant", "position"]


def read_codes(run: ExportedRun) -> pd.DataFrame:
    """Return the table of codes of an export or import; without rows if no version was frozen.

    Raises:
        CodingError: The latest version of an import was changed after it was frozen.
        AnalysisError: A category is not the study's, or does not follow from the coders' codes.
    """
    return _check_codes(_read_codes(run), run)


def _read_codes(run: ExportedRun) -> pd.DataFrame:
    names = CODES.column_names
    if run.folder.is_file():
        return _read_imported_codes(run)
    if not any((run.folder / f"{CODES.name}{suffix}").is_file() for suffix in (".parquet", ".csv")):
        return pd.DataFrame(columns=list(names))
    table = read_exported_table(CODES, run.folder, names)
    texts = [column.name for column in CODES.columns if column.type == "string"]
    return table.assign(**{name: table[name].fillna("").astype(str) for name in texts})


def _check_codes(codes: pd.DataFrame, run: ExportedRun) -> pd.DataFrame:
    names = run.study.coding.names if run.study.coding else ()
    for row in codes.drop_duplicates("answer").to_dict("records"):
        if names and row["code"] not in names:
            raise AnalysisError(
                f'the frozen codes have the category "{row["code"]}", which the study lacks',
                where=str(run.folder),
                expected=f"one of: {', '.join(names)}",
                remedy="If you renamed the category, give it its earlier name",
            )
        by_coders = Codes(row["listed"], row["coder_1"], row["coder_2"], decided=row["decided"])
        if row["code"] != by_coders.category:
            raise AnalysisError(
                f'the code "{row["code"]}" of answer {row["answer"]} does not follow from what the '
                "coders chose",
                where=str(run.folder),
                expected=f'"{by_coders.category}", unless somebody edited the table',
                remedy="Export the run again; a coder or the person who decides can change a code",
            )
    return codes


def add_codes(judgments: pd.DataFrame, codes: pd.DataFrame) -> pd.DataFrame:
    """Return the judgments that have a code, with the columns code and answer and their index.

    A judgment of a text with several gaps, or of a list, comes once for each gap or entry that has
    a code. ``answer`` is the number of the different answer.
    """
    trials = judgments[_TRIAL].astype({"participant": str, "position": int})
    of_trials = codes.loc[codes["code"] != "", [*_TRIAL, "code", "answer"]]
    of_trials = of_trials.astype({"participant": str, "position": int})
    coded = trials.assign(row=judgments.index).merge(of_trials, on=_TRIAL)
    columns = {name: coded[name].to_numpy() for name in ("code", "answer")}
    return judgments.loc[coded["row"]].assign(**columns)


def _read_imported_codes(run: ExportedRun) -> pd.DataFrame:
    """Return the codes of an import's answers, which are known by their texts."""
    frozen = read_latest_version(run.folder.parent)
    answers = run.responses
    if frozen is None or "typed" not in answers:
        return pd.DataFrame(columns=list(CODES.column_names))
    numbers = {
        (row["item_id"], row["version"], row["typed"]): number
        for number, row in enumerate(frozen.rows)
    }
    texts = answers["typed"].astype(object).fillna("").astype(str).map(normalise)
    keys = zip(answers["item_id"].astype(str), answers["version"].astype(str), texts, strict=True)
    # Codes of answers without their texts have no item.
    places = [numbers.get(key, numbers.get(("", "", key[2]))) for key in keys]
    coded = pd.Series(places, answers.index, dtype="Int64").dropna().astype(int)
    rows = pd.DataFrame([frozen.rows[number] for number in coded], coded.index)
    return (
        answers.loc[coded.index, _TRIAL]
        .join(rows)
        .assign(answer=coded + 1, coding_version=frozen.number)
    )
