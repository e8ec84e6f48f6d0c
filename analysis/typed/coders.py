"""The agreement of the two coders of typed answers, and of each with their own repeated codes."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from analysis.data.codes import add_codes, read_codes
from analysis.findings.finding import Finding, FindingInputs, Findings
from analysis.statistics.agreement import cohen_kappa, krippendorff_alpha
from analysis.statistics.clustered import agreement_of, log_f, student_quantile
from analysis.statistics.resample import Floats
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section
from experiment.studies.analysis_plan import ENTRIES

_CODES_PER_ANSWER, _FEWEST_ANSWERS = 2, 10
# Whose two codes of each answer are compared.
_PAIRS = (
    ("the two coders", "coder_1", "coder_2"),
    ("the first coder, twice", "coder_1", "coder_1_again"),
    ("the second coder, twice", "coder_2", "coder_2_again"),
)
_PAIRS_WITH_MODEL = (
    ("the model and the first coder", "proposed", "coder_1"),
    ("the model and the second coder", "proposed", "coder_2"),
    ("the model and the coders' category", "proposed", "code"),
)
_METHODS = (
    "Kappa: (p - q) / (1 - q), with p the share of equal codes and q the share expected by chance "
    "from how often each coder chose each category (Cohen, 1960). Alpha: Krippendorff's, nominal, "
    "which uses the frequencies of both coders together. Each different answer counts once.",
    "Intervals: 95%, Student's t on the scale of log F, leaving out each answer once (jackknife). "
    "Perfect agreement, and fewer than ten answers, have none.",
)


def alpha_of_table(table: Floats) -> float:
    """Return Krippendorff's nominal alpha of a table of two coders' codes."""
    identity = np.eye(len(table))
    first, second = np.nonzero(table)
    units = (identity[first] + identity[second]).repeat(table[first, second].astype(int), axis=0)
    return krippendorff_alpha(units)


def estimate_with_interval(
    table: Floats, compute: Callable[[Floats], float]
) -> tuple[float, float, float]:
    """Return an agreement with its interval, which leaves out each answer once."""
    value, n = compute(table), table.sum()
    if not value < 1 or n < _FEWEST_ANSWERS:
        return value, float("nan"), float("nan")
    cells = np.argwhere(table)
    without = []
    for first, second in cells:
        fewer = table.copy()
        fewer[first, second] -= 1
        without.append(compute(fewer))
    logs = log_f(np.array(without), _CODES_PER_ANSWER)
    weight = table[tuple(cells.T)]
    mean = np.average(logs, weights=weight)
    variance = (n - 1) / n * float(weight @ (logs - mean) ** 2)
    half = student_quantile(np.asarray(n - 1)) * np.sqrt(variance)
    middle = log_f(np.asarray(value), _CODES_PER_ANSWER)
    low, high = (float(agreement_of(middle + end, _CODES_PER_ANSWER)) for end in (-half, half))
    return value, low, high


def describe_agreement(
    codes: pd.DataFrame, pairs: Sequence[tuple[str, str, str]] = _PAIRS
) -> pd.DataFrame:
    """Return the agreement of each pair of codes of answers that people coded.

    Args:
        codes: The exported table of codes.
        pairs: Each pair's name and columns.

    Returns:
        pair, n_answers, n_equal, kappa, kappa_low, kappa_high, alpha, alpha_low, alpha_high.
    """
    answers = codes[codes["coder_1"] != ""].drop_duplicates("answer")
    rows = []
    for pair, first, second in pairs:
        both = answers[(answers[first] != "") & (answers[second] != "")]
        if both.empty:
            continue
        names = sorted({*both[first], *both[second]})
        counts = pd.crosstab(both[first], both[second]).reindex(
            index=names, columns=names, fill_value=0
        )
        table = counts.to_numpy(float)
        row: dict[str, object] = {
            "pair": pair, "n_answers": len(both), "n_equal": int(np.trace(table))
        }  # fmt: skip
        for name, compute in (("kappa", cohen_kappa), ("alpha", alpha_of_table)):
            row[name], row[f"{name}_low"], row[f"{name}_high"] = estimate_with_interval(
                table, compute
            )
        rows.append(row)
    return pd.DataFrame(rows)


def _run(inputs: FindingInputs) -> Findings:
    codes = read_codes(inputs.run)
    agreed = describe_agreement(codes)
    if agreed.empty:
        return Findings()
    tables = [
        _agreement_table(
            "coder_agreement",
            "Agreement of the coders",
            "How far two people who coded the typed answers agree, and each with the same person's "
            "codes of answers that came twice.",
            agreed,
            inputs,
        )
    ]
    statistics = {"coder_agreement": agreed}
    answers = inputs.data.judgments
    coded = add_codes(answers, codes)
    if ENTRIES in answers:
        n_answers, n_coded = int(answers[ENTRIES].sum()), len(coded)
    else:
        n_answers = int((answers["typed"].astype(object).fillna("") != "").sum())
        n_coded = coded.index.nunique()
    n_uncoded = n_answers - n_coded
    left_out = (
        (f"{n_uncoded:,} of {n_answers:,} answers have no code in the frozen version.",)
        if n_uncoded
        else ()
    )
    with_model = describe_agreement(codes, _PAIRS_WITH_MODEL)
    if len(with_model):
        model = max(codes["proposed_by"])
        tables.append(
            _agreement_table(
                "model_coder_agreement",
                "Agreement of a model with the coders",
                f"How far the codes that {model} proposed agree with people's. They decided "
                "nothing, and whoever coded did not see them.",
                with_model,
                inputs,
            )
        )
        statistics["model_coder_agreement"] = with_model.assign(model=model)
    return Findings(tuple(tables), statistics, left_out)


def _agreement_table(
    name: str, title: str, caption: str, agreed: pd.DataFrame, inputs: FindingInputs
) -> Table:
    rows = [
        {
            "group": row["pair"],
            "label": name,
            "agreement": row[key],
            "low": row[f"{key}_low"],
            "high": row[f"{key}_high"],
            "n_equal": row["n_equal"],
            "n_answers": row["n_answers"],
        }
        for row in agreed.to_dict("records")
        for name, key in (("Cohen's kappa", "kappa"), ("Krippendorff's alpha", "alpha"))
    ]
    return inputs.context.table(
        name,
        title,
        caption,
        pd.DataFrame(rows),
        (
            Column("label", "Measure", "text"),
            Column("agreement", "Agreement", "estimate"),
            Column("n_equal", "Equal codes", "count"),
            Column("n_answers", "Answers", "count"),
        ),
        _METHODS,
        section=Section.ANSWERS,
    )


CODER_AGREEMENT = Finding("coder_agreement", Section.ANSWERS, _run)
