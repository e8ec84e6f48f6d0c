"""Models' accuracy by every metric, as a check of the chosen metric."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from analysis.data.join import Joined
from analysis.data.load import Scores
from analysis.findings.finding import Context, Finding, Findings, Need
from analysis.scores.metrics import (
    CHOICE_METRICS,
    NEED_UNIGRAM,
    SUM,
    Floats,
    Tokens,
    compute_metric,
    read_tokens,
)
from analysis.scores.metrics import (
    METRICS as FORMULAS,
)
from analysis.tables.accuracy_table import Column
from analysis.tables.section import Section


def metrics_findings(
    data: Joined, context: Context, scores: Sequence[Scores], unigram: Scores | None
) -> Findings:
    """Return each model's accuracy by each metric on the judged items.

    Further columns are the share of items on which the metric agrees with the sum, and Spearman's
    rho of the metric's difference (good minus the other) with the share of good choices.

    Args:
        data: The judgments; each metric recomputes the models' decisions.
        context: The study and the origin of the numbers.
        scores: One entry per model, as read from the file, before any metric.
        unigram: A unigram model's scores; without them, the metrics that need them are left out.
    """
    shares = data.judgments.groupby("item_id")["chose_good"].mean()
    tokens_of = {
        model_scores.facts.model: read_tokens(model_scores, shares.index) for model_scores in scores
    }
    have_contexts = all(tokens.follow_contexts for tokens in tokens_of.values())
    left_out = {*(() if unigram else NEED_UNIGRAM), *(() if have_contexts else CHOICE_METRICS)}
    metrics = [name for name in FORMULAS if name not in left_out]
    words, formulas = [m.replace("_", " ") for m in metrics], [FORMULAS[m] for m in metrics]
    frame = pd.DataFrame({"group": "", "label": words, "formula": formulas})
    of_unigram = read_tokens(unigram, shares.index) if unigram else None
    columns = [Column("label", "", "text"), Column("formula", "score of a version", "text")]
    for model, tokens in tokens_of.items():
        by_metric = _compute_each_metric(tokens, of_unigram, metrics, shares)
        frame = frame.join(by_metric.add_prefix(f"{model}_"))
        columns += [
            Column(f"{model}_accuracy", "accuracy", spanner=model),
            Column(f"{model}_same", "as sum", spanner=model),
            Column(f"{model}_rho", "rho", "signed", spanner=model),
        ]
    table = context.table(
        "metrics",
        "Metrics",
        "Accuracy of the models on the judged items by each metric.",
        frame,
        columns,
        _make_notes(unigram),
        Section.METRICS,
    )
    return Findings((table,))


def _make_notes(unigram: Scores | None) -> list[str]:
    notes = [
        '"As sum" is the share of items with the same decision as by the sum; "rho" is Spearman\'s '
        "correlation, over items, of the difference between the versions with the share of people "
        "who chose the expected one."
    ]
    if unigram is None:
        notes.append(
            "Metrics that correct for word frequency need a unigram model's scores (--unigram)."
        )
    else:
        notes.append(f"Unigram model: {unigram.facts.model}, {unigram.facts.trained_on}.")
    return notes


def _compute_each_metric(
    tokens: Tokens, unigram: Tokens | None, metrics: Sequence[str], shares: "pd.Series[float]"
) -> pd.DataFrame:
    people = shares.reindex(tokens.rows["item_id"].iloc[0::2]).to_numpy()
    differences = {
        metric: _subtract_versions(compute_metric(tokens, metric, unigram)) for metric in metrics
    }
    by_sum = differences[SUM] > 0
    rows: list[Mapping[str, float]] = []
    for difference in differences.values():
        varies = np.ptp(difference) > 0 and np.ptp(people) > 0
        rows.append(
            {
                "accuracy": float((difference > 0).mean()),
                "same": float(((difference > 0) == by_sum).mean()),
                "rho": float(spearmanr(difference, people).statistic) if varies else np.nan,
            }
        )
    return pd.DataFrame(rows)


def _subtract_versions(values: Floats) -> Floats:
    """Return each item's value of the good version minus that of the other."""
    good, bad = values.reshape(-1, 2).T
    # Two impossible versions (-inf each) count as a tie.
    return np.subtract(good, bad, out=np.zeros(len(good)), where=good != bad)


METRICS = Finding(
    "metrics",
    Section.METRICS,
    lambda inputs: metrics_findings(
        inputs.data, inputs.context, inputs.as_read, inputs.options.unigram
    ),
    needs=(Need.MODELS,),
    slow=True,
)
