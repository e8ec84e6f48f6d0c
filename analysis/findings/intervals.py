"""The intervals of people's accuracy by three methods."""

import pandas as pd

from analysis.data.load import PEOPLE
from analysis.findings.finding import Finding
from analysis.findings.findings import Context, Findings
from analysis.tables.accuracy_table import Column
from analysis.tables.section import Section


def interval_findings(accuracy: pd.DataFrame, context: Context) -> Findings:
    """Return people's accuracy with its three intervals side by side.

    Args:
        accuracy: Accuracies by construction in long form (see ``analysis.statistics.accuracy``).
        context: The study and where the numbers come from.
    """
    people = accuracy[accuracy["judge"] == PEOPLE]
    frame = pd.DataFrame(
        {"construction": people["construction"], "n_judgments": people["n_judgments"]}
    )
    for key, stem in (("clustered", ""), ("bootstrap", "bootstrap_"), ("wilson", "wilson_")):
        frame[key] = people["accuracy"]
        frame[f"{key}_low"], frame[f"{key}_high"] = people[f"{stem}low"], people[f"{stem}high"]
    table = context.table(
        "intervals",
        "Intervals compared",
        "People's accuracy with 95% intervals of three kinds.",
        context.by_construction(frame),
        (
            Column("label", "", "text"),
            Column("clustered", "Two-way clustered", "estimate"),
            Column("bootstrap", "Crossed bootstrap", "estimate"),
            Column("wilson", "Wilson, no clusters", "estimate"),
            Column("n_judgments", "Judgments", "count"),
        ),
        (
            "The two-way clustered interval is the one of every other table. The crossed bootstrap "
            "is cautious, a quarter wider; Wilson's takes all judgments for independent. Both are "
            "there as checks.",
        ),
        Section.SUPPLEMENT,
    )
    return Findings((table,))


INTERVALS = Finding(
    "intervals",
    Section.SUPPLEMENT,
    lambda given: interval_findings(given.by_construction, given.context),
)
