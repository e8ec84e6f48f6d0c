"""The comparisons of several reports together: rows and sentences."""

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from analysis.findings.comparison_words import ALPHA, words_of, write_p
from analysis.pooled.reports import Report, name_own_models
from analysis.statistics.partial_pooling import FEWEST, Pooled, pool
from analysis.statistics.sites import join_sites

_OWN_MODEL = "the report's own model"
_FEW = 5  # languages, below which their mean says little


def noun_of(reports: Sequence[Report]) -> str:
    """Return what is pooled: languages, if the reports are in two or more, or else sites."""
    languages = {report.language for report in reports}
    return "language" if len(languages) >= FEWEST and "" not in languages else "site"


def collect_answers(reports: Sequence[Report]) -> pd.DataFrame:
    """Return the comparisons of all reports, each with its report and language."""
    parts = [
        _own_models(report.comparisons, reports).assign(
            report=report.name, language=report.language
        )
        for report in reports
    ]
    rows = pd.concat(parts, ignore_index=True)
    one_sided = rows["one_sided"].fillna("") if "one_sided" in rows else ""
    rows = rows.assign(one_sided=one_sided).astype({"low": float, "high": float})
    # Tables of results have no infinite numbers.
    has_interval = rows[["low", "high"]].notna().any(axis=1)
    for end, side, infinite in (("high", "positive", np.inf), ("low", "negative", -np.inf)):
        rows.loc[has_interval & (rows["one_sided"] == side), end] = infinite
    return rows


def pool_comparisons(reports: Sequence[Report]) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Pool each comparison over the reports that answer it.

    Several sites of one language make one effect of the language. Primary comparisons are corrected
    by Bonferroni's method for their number, or that of a report if it is larger.

    Returns:
        A row for each comparison (and model): its first report's columns (see
        ``comparisons.answered``), with the attributes of ``Pooled``, n_reports (the languages, or
        the sites if all are of one) and, of sites within languages, sd_sites and p_sites; a row for
        each comparison and language (or site): name, judge, report, estimate, low, high, partly,
        partly_low, partly_high, n_participants, n_observations; and what is left out, in sentences.
    """
    rows = collect_answers(reports)
    is_of_languages = noun_of(reports) == "language"
    left_out, answered = [], []
    for (name, judge), group in rows.groupby(["name", "judge"], sort=False):
        usable = group[group["standard_error"].fillna(0) > 0]
        title = f"{name}: {judge}" if judge else str(name)
        asked = sorted(set(group["report"]) - set(usable["report"]))
        not_asked = sorted({report.name for report in reports} - set(group["report"]))
        if asked:
            left_out.append(f"{title}: {', '.join(asked)} gave no estimate with an interval.")
        if not_asked:
            left_out.append(f"{title}: {', '.join(not_asked)} did not answer this comparison.")
        if is_of_languages and usable["language"].duplicated().any():
            usable = _join_languages(usable)
        if len(usable) >= FEWEST:
            answered.append(usable)
    primary = [group for group in answered if group["role"].iloc[0] == "primary"]
    # The reports also count the comparisons of a session's other tasks.
    family = max([len(primary), *(int(group["n_in_family"].max()) for group in primary)])
    pooled, single = [], []
    for group in answered:
        first = group.iloc[0].to_dict()
        n_tests = family if first["role"] == "primary" else 1
        sides = 2 if first["one_sided"] else 1
        result = pool(
            group["estimate"].to_numpy(float),
            group["standard_error"].to_numpy(float),
            1 - sides * ALPHA / n_tests,
        )
        values = {key: value for key, value in asdict(result).items() if np.ndim(value) == 0}
        values |= _take_side(result, first["one_sided"])
        corrected = min(1.0, n_tests * values["p"])
        pooled.append(
            first
            | values
            | {"n_in_family": n_tests, "p_corrected": corrected, "n_reports": len(group)}
            | {"n_participants": group["n_participants"].sum()}
        )
        kept = ["name", "judge", "measure", "response", "role", "report", "one_sided"]
        kept += ["estimate", "low", "high", "n_participants", "n_observations"]
        single.append(
            group[kept].assign(
                partly=result.partly, partly_low=result.partly_low, partly_high=result.partly_high
            )
        )
    by_report = pd.concat(single, ignore_index=True) if single else pd.DataFrame()
    return pd.DataFrame(pooled), by_report, left_out


def _join_languages(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each language, from the rows of its sites.

    A language with one site keeps the interval of its report.
    """
    code, names = pd.factorize(rows["language"])
    first = rows.iloc[0]
    sides = 2 if first["one_sided"] else 1
    joined = join_sites(
        rows["estimate"].to_numpy(float),
        rows["standard_error"].to_numpy(float),
        code,
        1 - sides * ALPHA / first["n_in_family"],
    )
    by_language = rows.groupby(code)
    low, high = joined.estimate - joined.half, joined.estimate + joined.half
    if first["one_sided"]:
        low, high = (low, high + np.inf) if first["one_sided"] == "positive" else (
            low - np.inf, high
        )  # fmt: skip
    sizes = by_language.size().to_numpy()
    is_alone = sizes == 1
    return by_language.first().assign(
        report=[
            own if alone else f"{name} ({size} sites)"
            for own, alone, name, size in zip(
                by_language["report"].first(), is_alone, names, sizes, strict=True
            )
        ],
        estimate=joined.estimate,
        standard_error=joined.error,
        low=np.where(is_alone, by_language["low"].first(), low),
        high=np.where(is_alone, by_language["high"].first(), high),
        n_participants=by_language["n_participants"].sum(),
        n_observations=by_language["n_observations"].sum(),
        sd_sites=joined.sd,
        p_sites=joined.p_equal,
    )


def _take_side(result: Pooled, one_sided: str) -> dict[str, float]:
    """Return the interval and p of a one-sided comparison; nothing of a two-sided one."""
    if not one_sided:
        return {}
    is_positive = one_sided == "positive"
    is_predicted = (result.mean > 0) == is_positive
    return {
        "low": result.low if is_positive else -np.inf,
        "high": np.inf if is_positive else result.high,
        "p": result.p / 2 if is_predicted else 1 - result.p / 2,
    }


def _own_models(rows: pd.DataFrame, reports: Sequence[Report]) -> pd.DataFrame:
    """Return comparisons with one common name for models that each report has another one of."""
    of_one_name = name_own_models(reports)
    renamed = []
    for row in rows.to_dict("records"):
        names = {name: own for name, own in of_one_name.items() if _is_compared(name, row)}
        judges = _judges_by_report(row["name"], reports)
        if (
            row["judge"]
            and len(set(judges)) > 1
            and all(len(of_report) == 1 for of_report in judges)
        ):
            names[row["judge"]] = _OWN_MODEL
        renamed.append(_rename_models(row, names))
    return pd.DataFrame(renamed)


def _is_compared(model: str, row: Mapping[Hashable, Any]) -> bool:
    """Return whether a row compares people, or another model, with a model."""
    return bool(row["judge"]) and model in {row["judge"], row["compared"].split(" - ")[0]}


def _rename_models(row: Mapping[Hashable, Any], names: Mapping[str, str]) -> dict[Hashable, Any]:
    """Return a comparison with other names for its models, also in its statements."""
    if not names:
        return dict(row)
    whole_names = re.compile(rf"(?<![\w/-])(?:{'|'.join(map(re.escape, names))})(?![\w/-]|\.\w)")
    return {
        key: whole_names.sub(lambda match: names[match[0]], value)
        if isinstance(value, str) and (key == "judge" or str(key).startswith("if_"))
        else value
        for key, value in row.items()
    }


def _judges_by_report(name: str, reports: Sequence[Report]) -> list[frozenset[str]]:
    judges = (
        frozenset(report.comparisons.loc[report.comparisons["name"] == name, "judge"])
        for report in reports
    )
    return [of_report for of_report in judges if of_report]


def summarise(pooled: pd.DataFrame, by_report: pd.DataFrame, noun: str) -> Iterator[str]:
    """Yield what each primary comparison says over all reports."""
    for row in pooled.to_dict("records"):
        if row["role"] != "primary":
            continue
        yield _write_sentence(row, by_report, noun)
    if len(pooled) and (pooled["n_reports"] < _FEW).any():
        yield (
            f"Fewer than {_FEW} {noun}s: their mean is uncertain, whatever each of them says. "
            f"Rely on each {noun}'s own interval."
        )
    if len(pooled) and (family := int(pooled["n_in_family"].max())) > 1:
        yield f"Intervals and p of these means are corrected for {family} comparisons (Bonferroni)."


def _write_sentence(row: Mapping[Any, Any], by_report: pd.DataFrame, noun: str) -> str:
    words = words_of(row["measure"], row["response"])
    amount, per = words.amount, row["per"]
    if row["p_corrected"] < ALPHA:
        statement = row["if_positive"] if row["mean"] > 0 else row["if_negative"]
    else:
        statement = f"{row['if_unclear']} is inconclusive"
    own = by_report[(by_report["name"] == row["name"]) & (by_report["judge"] == row["judge"])]
    above, below = (own["low"] > 0).sum(), (own["high"] < 0).sum()
    sentence = (
        f"{row['name']}: {statement}, as the mean of {row['n_reports']} {noun}s: "
        f"{words.with_unit(row['mean'])}{per} ({_write_interval(row, amount)}; "
        f"{write_p(row['p_corrected'])}). The {noun}s' true effects differ "
        f"by an SD of {amount(row['sd'], signed=False)} (95% interval "
        f"{amount(row['sd_low'], signed=False)} to {amount(row['sd_high'], signed=False)})"
    )
    if not np.isnan(row["next_low"]):
        sentence += (
            f"; in a further {noun} the effect is between {amount(row['next_low'])} and "
            f"{amount(row['next_high'])} (95%)"
        )
    return (
        f"{sentence}. By their own intervals, the effect is above 0 in {above} and below 0 in "
        f"{below} of {len(own)} {noun}s."
    )


def _write_interval(row: Mapping[Any, Any], amount: Callable[[float], str]) -> str:
    if row["one_sided"] == "positive":
        return f"95% interval from {amount(row['low'])}, one-sided"
    if row["one_sided"] == "negative":
        return f"95% interval up to {amount(row['high'])}, one-sided"
    return f"95% interval {amount(row['low'])} to {amount(row['high'])}"
