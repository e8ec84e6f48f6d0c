"""Yes-or-no answers: whether a single sentence is acceptable."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from analysis.data.join import Joined, check_same_items, hash_items, judgments
from analysis.data.load import ExportedRun, Scores
from analysis.findings.design import with_units
from analysis.findings.design_model import YES_NO_MODEL
from analysis.findings.finding import FindingInputs
from analysis.findings.flow import FLOW
from analysis.findings.links import LINK_FUNCTIONS
from analysis.findings.measures import YES_NO_EFFECTS
from analysis.findings.other_answers import LATE_ANSWERS, OTHER_YES_NO
from analysis.findings.yes_no import YES_NO, YES_NO_MODELS
from analysis.report.summary import ceiling_phrase, note_equal_scores
from analysis.responses.base import ResponseAnalysis
from analysis.tables.provenance import AskedFor


def join_answers_alone(run: ExportedRun, scores: Sequence[Scores]) -> Joined:
    """Return the answers to texts on which models make no decisions, after checking the scores."""
    answers = judgments(run)
    items = answers["item_id"].unique().tolist()
    for model_scores in scores:
        check_same_items(run, model_scores, items, lambda: hash_items(run))
    return Joined(with_units(answers, run.items), {}, run.items)


def _summarise_yes_no(inputs: FindingInputs, statistics: Mapping[str, pd.DataFrame]) -> list[str]:
    return [
        *_people_sentences(statistics),
        *_model_sentences(statistics),
    ]


def _people_sentences(statistics: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    sensitivity = statistics["detection"]
    of_targets = sensitivity[sensitivity["construction"] == ""]
    yield from _detection_sentences(of_targets, "People")
    if sensitivity.empty:
        rates = statistics["yes_rates"]
        share = (rates["yes"] * rates["n_answers"]).sum() / rates["n_answers"].sum()
        yield f"People judged {share:.0%} of the sentences acceptable; no answer was expected."
        yield from _detection_sentences(statistics["filler_detection"], "Of the fillers, people")


def _detection_sentences(rows: pd.DataFrame, subject: str) -> Iterator[str]:
    for row in rows.to_dict("records"):
        if pd.isna(row["dprime_low"]) or pd.isna(row["criterion_low"]):
            yield (
                f"{subject} said yes to {row['hits']:.0%} of the acceptable sentences and to "
                f"{row['false_alarms']:.0%} of the unacceptable ones; too few answers, "
                "participants or frames for a conclusion."
            )
            continue
        bias = "no" if row["criterion_low"] > 0 else "yes" if row["criterion_high"] < 0 else ""
        yield (
            f"{subject} said yes to {row['hits']:.0%} of the acceptable sentences and to "
            f"{row['false_alarms']:.0%} of the unacceptable ones: d' is {row['dprime']:z.2f} (95% "
            f"interval {row['dprime_low']:z.2f} to {row['dprime_high']:z.2f}), the criterion c "
            f"{row['criterion']:+z.2f} ({row['criterion_low']:+z.2f} to "
            f"{row['criterion_high']:+z.2f})" + (f": they lean towards {bias}." if bias else ".")
        )


def _model_sentences(statistics: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    correlations = statistics.get("yes_no_models", pd.DataFrame(columns=["judge", "measure"]))
    for row in correlations[correlations["measure"] == "mean"].to_dict("records"):
        if row["construction"]:
            continue
        if row["n_scores"] == 1 < row["n_sentences"]:
            yield note_equal_scores(str(row["judge"]), int(row["n_sentences"]))
            continue
        remark = ceiling_phrase(row["spearman"], row["ceiling"])
        if pd.notna(row["spearman_low"]):
            yield (
                f"{row['judge']}'s log-probability per token and people's share of yes, over "
                f"{row['n_sentences']:.0f} sentences: Spearman's rho = {row['spearman']:z.2f} (95% "
                f"interval {row['spearman_low']:z.2f} to {row['spearman_high']:z.2f}){remark}."
            )
        if pd.notna(row["area"]):
            yield (
                f"{row['judge']} separates acceptable from unacceptable sentences with an area "
                f"under the curve of {row['area']:.2f}."
            )


_ASKED = AskedFor(
    shown="one sentence",
    task="said whether it is acceptable",
    answer="answer",
    measured="shares of yes, accuracy, d' and criterion",
    unit="frame",
    methods=(
        "The interval of a share of yes is Wilson's, those of d' and of the criterion are "
        "Student's; their variances count participants and frames as clusters (Cameron, Gelbach & "
        "Miller, 2011). d' and the criterion are of all answers together, with Hautus's (1995) "
        "correction.",
        "A model has no threshold above which a sentence is acceptable. So its scores are compared "
        "with people's shares of yes, and by how often an acceptable sentence has a higher score "
        "than an unacceptable one.",
    ),
    decides=False,
)
YES_NO_ANALYSIS = ResponseAnalysis(
    "yes_no",
    _ASKED,
    join_answers_alone,
    _summarise_yes_no,
    (
        YES_NO,
        YES_NO_EFFECTS,
        YES_NO_MODEL,
        YES_NO_MODELS,
        LINK_FUNCTIONS,
        FLOW,
        LATE_ANSWERS,
        OTHER_YES_NO,
    ),
)
