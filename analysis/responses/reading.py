"""Self-paced reading: reading times of words or regions; also followed by a rating."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from analysis.data.join import Joined, check_same_items, hash_items, judgments
from analysis.data.load import ExportedRun, Scores
from analysis.errors import AnalysisError
from analysis.findings.comparison_words import NAME
from analysis.findings.design import cell_names
from analysis.findings.design_model import RATING_MODEL, READING_MODEL
from analysis.findings.finding import FindingInputs, titles_of
from analysis.findings.links import LINK_FUNCTIONS
from analysis.findings.measures import RATING_EFFECTS, READING, READING_EFFECTS
from analysis.findings.other_answers import OTHER_RATED, QUESTIONS
from analysis.findings.ratings import RATING_MODELS, RATINGS
from analysis.findings.surprisal import SURPRISAL_SHAPE, SURPRISAL_TIMES
from analysis.responses.base import ResponseAnalysis
from analysis.responses.rating import RATING
from analysis.tables.provenance import AskedFor
from experiment.responses.registry import response_of

_LEVEL = 0.05
# Of more pairs of surprisals, the table alone has the differences.
_MOST_PAIRS = 3


def _join_readings(run: ExportedRun, scores: Sequence[Scores]) -> Joined:
    """Return the trials read; models have no decisions, since there is no choice."""
    times = judgments(run)
    items = times["item_id"].unique().tolist()
    for model_scores in scores:
        check_same_items(run, model_scores, items, lambda: hash_items(run))
    response = response_of(run.study, own_code=False)
    if getattr(response, "wrong_answers", "keep") == "drop":
        times = times[times["chose_good"].fillna(value=True).astype(bool)].reset_index(drop=True)
    if times.empty:
        raise AnalysisError(
            "no trial with a correctly answered question is left",
            where=str(run.folder),
            remedy='Set wrong_answers = "keep" below [trial.parameters]',
        )
    times = times.assign(unit=times["construction"].astype(str) + " " + times["frame"].astype(str))
    return Joined(times.assign(cell=cell_names(times).astype("category")), {}, run.items)


def _summarise_reading(inputs: FindingInputs, statistics: Mapping[str, pd.DataFrame]) -> list[str]:
    return [*_effect_sentences(inputs, statistics), *_model_sentences(statistics)]


def _effect_sentences(
    inputs: FindingInputs, statistics: Mapping[str, pd.DataFrame]
) -> Iterator[str]:
    """Yield each construction's region with the most certain slowdown in its first contrast.

    Where the study's comparisons are of reading times, they say which region the question is of.
    """
    answered = statistics.get(NAME, pd.DataFrame(columns=["measure", "role"]))
    if ((answered["measure"] == READING.value) & (answered["role"] == "primary")).any():
        return
    effects = statistics.get("reading_effects", pd.DataFrame(columns=["construction"]))
    titles = titles_of(inputs.context.study)
    for name, rows in effects.groupby("construction", sort=False):
        tested_rows = rows[rows["p_holm"].notna()]
        title = titles.get(str(name), str(name))
        if tested_rows.empty:
            yield f"{title}: too few reading times for an interval."
            continue
        row = tested_rows.sort_values("p_holm", kind="stable").iloc[0]
        low, high, n = row["percent_low"], row["percent_high"], len(tested_rows)
        family = f"{n} comparisons of regions and contrasts in the construction"
        yield (
            f"{title}: the clearest difference is {row['contrast']} in region {row['region']}, "
            f"{row['percent']:+z.1f} % of the reading time (95% interval {low:+z.1f} to "
            f"{high:+z.1f}; {correction_in_words(low, high, row['p_holm'], family, n)})."
        )


def _model_sentences(statistics: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    slopes = statistics.get("surprisal_times", pd.DataFrame(columns=["model"]))
    for row in slopes.to_dict("records"):
        yield (
            f"{row['model']}: a bit of surprisal slows a word by {row['percent']:.2f} % (95% "
            f"interval {row['percent_low']:z.2f} to {row['percent_high']:z.2f}); it adds "
            f"{1000 * row['delta_loglik']:.2f} thousandths of a nat per word to the "
            f"log-likelihood of held-out times ({1000 * row['delta_low']:z.2f} to "
            f"{1000 * row['delta_high']:z.2f})."
        )
    pairs = statistics.get("surprisal_gains", pd.DataFrame())
    for row in pairs.to_dict("records") if len(pairs) <= _MOST_PAIRS else ():
        yield (
            f"{row['model']} adds {1000 * row['delta_loglik']:+z.2f} thousandths of a nat per word "
            f"compared with {row['than']} (95% interval {1000 * row['delta_low']:+z.2f} to "
            f"{1000 * row['delta_high']:+z.2f})."
        )


_ASKED = AskedFor(
    shown="a sentence, {steps}",
    task="read at their own pace",
    answer="reading trial",
    measured="logarithms of reading times",
    unit="frame",
    methods=(
        "Reading times are analysed as logarithms; means are geometric. Intervals are Student's, "
        "with a variance that counts participants and frames as clusters (Cameron, Gelbach & "
        "Miller, 2011).",
    ),
    decides=False,
)
SELF_PACED_ANALYSIS = ResponseAnalysis(
    "self_paced",
    _ASKED,
    _join_readings,
    _summarise_reading,
    (READING_EFFECTS, READING_MODEL, QUESTIONS, SURPRISAL_TIMES, SURPRISAL_SHAPE),
)


def _summarise_reading_and_rating(
    inputs: FindingInputs, statistics: Mapping[str, pd.DataFrame]
) -> list[str]:
    return [
        *RATING.summary(inputs, statistics),
        *SELF_PACED_ANALYSIS.summary(inputs, statistics),
    ]


_ASKED_BOTH = AskedFor(
    shown="a sentence, {steps}, and then a scale",
    task="read the sentence and rated it from 1 to {points}",
    measured="ratings, and logarithms of reading times",
    unit="frame",
    methods=(*RATING.asked.methods, *SELF_PACED_ANALYSIS.asked.methods),
    decides=False,
)
READ_THEN_RATE = ResponseAnalysis(
    "read_then_rate",
    _ASKED_BOTH,
    RATING.join,
    _summarise_reading_and_rating,
    (
        RATINGS,
        RATING_EFFECTS,
        RATING_MODEL,
        RATING_MODELS,
        LINK_FUNCTIONS,
        OTHER_RATED,
        READING_EFFECTS,
        READING_MODEL,
        SURPRISAL_TIMES,
        SURPRISAL_SHAPE,
    ),
)


def correction_in_words(low: float, high: float, p_holm: float, family: str, n: int) -> str:
    """Report whether a difference remains after correction, if its own interval excludes zero.

    Args:
        low: The lower end of the difference's own 95% interval.
        high: Its upper end.
        p_holm: The p-value, corrected for the family by Holm's method.
        family: The family of tests, such as "5 contrasts tested".
        n: The size of the family.
    """
    suffix = f" after correction for the {family}" if n > 1 else ""
    if p_holm < _LEVEL:
        return f"a significant difference{suffix}"
    if n > 1 and not low <= 0 <= high:
        return f"its own interval excludes zero, but{suffix} there is no significant difference"
    return "no significant difference"
