"""How the sites of one language differ: rows, sentences and a table."""

from collections.abc import Iterator, Sequence

import pandas as pd
from scipy.stats import norm

from analysis.findings.comparison_words import ALPHA, words_of, write_p
from analysis.pooled.effects import collect_answers, noun_of
from analysis.pooled.reports import Report
from analysis.pooled.tables import scale_rows, write_titles
from analysis.statistics.sites import compare_with_others
from analysis.tables.accuracy_table import Column, Table

SITES = "sites"


def compare_sites(reports: Sequence[Report]) -> pd.DataFrame:
    """Return each comparison at each site of a language with several sites.

    Returns:
        name, judge, measure, response, report, language, estimate, low, high, n_participants, and
        difference from the language's other sites with difference_low and difference_high (95%);
        empty if no language has several sites, or all reports are of one.
    """
    rows = collect_answers(reports)
    if noun_of(reports) != "language":
        return rows.iloc[:0]
    parts = []
    for _, group in rows.groupby(["name", "judge"], sort=False):
        usable = group[group["standard_error"].fillna(0) > 0]
        difference, error = compare_with_others(
            usable["estimate"].to_numpy(float),
            usable["standard_error"].to_numpy(float),
            pd.factorize(usable["language"])[0],
        )
        half = norm.ppf(1 - ALPHA / 2) * error
        parts.append(
            usable.assign(
                difference=difference,
                difference_low=difference - half,
                difference_high=difference + half,
            )
        )
    differences = pd.concat(parts, ignore_index=True)
    return differences[differences["difference"].notna()]


def describe_sites(pooled: pd.DataFrame, by_site: pd.DataFrame) -> Iterator[str]:
    """Yield how the sites of one language differ in each primary comparison."""
    for row in pooled.to_dict("records"):
        if row["role"] != "primary" or by_site.empty or pd.isna(row.get("p_sites")):
            continue
        words = words_of(row["measure"], row["response"])
        own = by_site[(by_site["name"] == row["name"]) & (by_site["judge"] == row["judge"])]
        if row["p_sites"] >= ALPHA:
            yield (
                f"{row['name']}: no difference between the sites of one language is shown "
                f"({write_p(row['p_sites'])})."
            )
            continue
        apart = [
            f"{site['report']} by {words.amount(site['difference'])} from the other sites of "
            f"{site['language']} (95% interval {words.amount(site['difference_low'])} to "
            f"{words.amount(site['difference_high'])})"
            for site in own.to_dict("records")
            if site["difference_low"] > 0 or site["difference_high"] < 0
        ]
        yield (
            f"{row['name']}: the sites of one language differ ({write_p(row['p_sites'])}), by an "
            f"SD of {words.amount(row['sd_sites'], signed=False)}"
            + (f": {'; '.join(apart)}." if apart else ".")
        )


def sites_table(by_site: pd.DataFrame, origin: tuple[str, ...]) -> Table:
    """Return the table of sites, from ``compare_sites``."""
    scaled = scale_rows(
        by_site, ("estimate", "low", "high", "difference", "difference_low", "difference_high")
    )
    return Table(
        SITES,
        "Sites of one language",
        "Each site's own estimate, as its report has it, and its difference from the mean of the "
        "language's other sites.",
        scaled.assign(
            group=write_titles(by_site),
            label=by_site["report"],
            estimate_low=scaled["low"],
            estimate_high=scaled["high"],
        ),
        (
            Column("label", "", "text"),
            Column("language", "Language", "text"),
            Column("estimate", "Own", "estimate"),
            Column("difference", "From the other sites", "estimate"),
            Column("n_participants", "Participants", "count"),
        ),
        (
            "Intervals of differences: 95%, not corrected for their number. They are too wide if "
            "the sites show the same items, because what items have in common does not differ.",
        ),
        origin,
    )
