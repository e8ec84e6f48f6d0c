"""Rates of yes, sensitivity to acceptability, and their relation to models' scores."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from analysis.data.declared import clustering_column
from analysis.data.load import PEOPLE, Scores
from analysis.findings.detection import NO_ANSWER, add_expected_answers, detection_findings
from analysis.findings.effects import MEASURES, by_item, effects_table, model_effects
from analysis.findings.finding import (
    Context,
    Finding,
    FindingInputs,
    Findings,
    Need,
    full_titles,
)
from analysis.scores.metrics import METRICS, compute_sentence_metric
from analysis.statistics.ceiling import split_half
from analysis.statistics.detection import area_under_curve, yes_rates
from analysis.statistics.resample import Floats, numpy_generator, percentile_interval
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section
from experiment.records import Kind

_CELL = ["construction", "condition", "expected"]
_LABEL = Column("label", "", "text")
_LEFT_OUT_NOTE = (
    "Answers are yes or no to one sentence, so analyses of choices between two versions (agreement "
    "with models item by item, learning, the mixed model of choices) are left out."
)


def _run(inputs: FindingInputs) -> Findings:
    answers = add_expected_answers(inputs.data.judgments)
    rates = _order_by_condition(yes_rates(answers, _CELL), inputs)
    of_detection = detection_findings(inputs, answers)
    return Findings(
        (_rates_table(rates, inputs.context), *of_detection.tables),
        {"yes_rates": rates, **of_detection.statistics},
        (_LEFT_OUT_NOTE,),
    )


def _order_by_condition(rates: pd.DataFrame, inputs: FindingInputs) -> pd.DataFrame:
    """Return the rows by condition in the items' order, yes before no."""
    order = {
        name: n for n, name in enumerate(dict.fromkeys(inputs.run.items["condition"].astype(str)))
    }
    rows = rates.assign(place=rates["condition"].map(order))
    rows["last"] = rows["expected"].map({"yes": 0, "no": 1, NO_ANSWER: 2}).astype(int)
    return rows.sort_values(["place", "last"], kind="stable").drop(columns=["place", "last"])


def _rates_table(rates: pd.DataFrame, context: Context) -> Table:
    rows = context.by_construction(rates)
    titles = full_titles(rows)
    rows = rows.assign(group=titles, label=context.name_conditions(rows))
    several = rates["expected"].nunique() > 1 or rates["expected"].iloc[0] != NO_ANSWER
    return context.table(
        "yes_rates",
        "Judged acceptable",
        "How often sentences were judged acceptable, by condition"
        f"{' and by the answer that was expected' if several else ''}.",
        rows,
        (
            _LABEL,
            *((Column("expected", "Expected", "text"),) if several else ()),
            Column("yes", "Yes", "estimate"),
            Column("n_answers", "Answers", "count"),
            Column("n_items", "Items", "count"),
            Column("n_participants", "Participants", "count"),
        ),
        section=Section.ANSWERS,
    )


YES_NO = Finding("yes_no", Section.ANSWERS, _run)


_MOST_SPLITS = 1000
_FEWEST_SENTENCES = 3
_SENTENCE = ["item_id", "version"]


def _run_models(inputs: FindingInputs) -> Findings:
    answers = add_expected_answers(inputs.data.judgments)
    answers = answers[answers["kind"].astype(str) != Kind.CATCH]
    measures = {
        (model_scores.facts.model, measure): values
        for model_scores in inputs.as_read
        for measure, values in _sentence_measures(model_scores, inputs.options.unigram)
    }
    relations = pd.DataFrame(_relation_rows(answers, measures, inputs.context))
    if relations.empty:
        return Findings()
    table, statistics = _models_table(relations, inputs.context), {"yes_no_models": relations}
    effects = model_effects(inputs, by_item(answers, measures))
    if effects.empty:
        return Findings((table,), statistics)
    name, people_measure = "yes_no_model_effects", "the shares of yes"
    further = effects_table(name, people_measure, effects, inputs.context)
    return Findings((table, further), statistics | {name: effects})


def _sentence_measures(
    scores: Scores, unigram: Scores | None
) -> Iterator[tuple[str, "pd.Series[float]"]]:
    """Yield each measure of whole sentences by item and version."""
    sentence = pd.MultiIndex.from_frame(scores.frame[["item_id", "variant"]].astype(str))
    for measure in MEASURES:
        if measure != "slor" or unigram is not None:
            yield measure, pd.Series(compute_sentence_metric(scores, measure, unigram), sentence)


def _relation_rows(
    answers: pd.DataFrame,
    measures: Mapping[tuple[str, str], "pd.Series[float]"],
    context: Context,
) -> Iterator[dict[str, object]]:
    """Yield each measure's relation to participants' shares of yes, overall and by construction."""
    groups = {
        str(name): rows
        for name, rows in answers.groupby(answers["construction"].astype(str), sort=False)
    }
    if len(groups) > 1:
        groups = {"": answers} | groups
    elif groups:
        groups = {"": answers}
    for name, rows in groups.items():
        people = _summarise_sentences(rows)
        facts = {"construction": name, "ceiling": _compute_ceiling(rows, context)}
        yield facts | _people_area(people, context, name)
        for (model, measure), values in measures.items():
            sentence = pd.MultiIndex.from_frame(people[_SENTENCE])
            sentences = people.assign(score=values.reindex(sentence).to_numpy()).dropna(
                subset="score"
            )
            rng = numpy_generator(context.seed, "yes no", name, model, measure)
            yield (
                facts
                | {"judge": model, "measure": measure}
                | _relation_to_scores(sentences, rng, context.resamples)
            )


def _summarise_sentences(answers: pd.DataFrame) -> pd.DataFrame:
    """Return one row per sentence: item_id, version, yes (share), unit, expected."""
    rows = answers[[*_SENTENCE, "said_yes", "expected"]].astype(dict.fromkeys(_SENTENCE, str))
    rows["unit"] = answers[clustering_column(answers)].astype(str)
    grouped = rows.assign(said_yes=rows["said_yes"].astype(float)).groupby(_SENTENCE, sort=False)
    return grouped.agg(
        yes=("said_yes", "mean"), unit=("unit", "first"), expected=("expected", "first")
    ).reset_index()


def _relation_to_scores(
    sentences: pd.DataFrame, rng: np.random.Generator, resamples: int
) -> dict[str, object]:
    """Return a score's correlation and area, with 95% intervals from resampled frames."""
    yes, score = (sentences[name].to_numpy(dtype=float) for name in ("yes", "score"))
    is_known, signal = _expected_masks(sentences)
    row: dict[str, object] = {
        "n_sentences": len(sentences),
        "n_scores": len(np.unique(score)),
        "spearman": _correlate_ranks(yes, score),
        "area": area_under_curve(score[is_known], signal[is_known]),
    }
    resamples_of_frames = _resample_frames(sentences["unit"], rng, resamples)
    correlations, areas = [], []
    for rows in resamples_of_frames:
        known_rows = rows[is_known[rows]]
        correlations.append(_correlate_ranks(yes[rows], score[rows]))
        areas.append(area_under_curve(score[known_rows], signal[known_rows]))
    return row | _interval_columns("spearman", correlations) | _interval_columns("area", areas)


def _people_area(sentences: pd.DataFrame, context: Context, name: str) -> dict[str, object]:
    """Return the area of participants' own shares of yes, the reference for a model's area."""
    yes = sentences["yes"].to_numpy(dtype=float)
    is_known, signal = _expected_masks(sentences)
    rng = numpy_generator(context.seed, "yes no", name, PEOPLE)
    known_rows = (
        rows[is_known[rows]] for rows in _resample_frames(sentences["unit"], rng, context.resamples)
    )
    drawn = [area_under_curve(yes[rows], signal[rows]) for rows in known_rows]
    return {
        "judge": PEOPLE, "measure": "", "n_sentences": len(sentences), "spearman": np.nan,
        "spearman_low": np.nan, "spearman_high": np.nan,
        "area": area_under_curve(yes[is_known], signal[is_known]),
        **_interval_columns("area", drawn),
    }  # fmt: skip


def _expected_masks(
    sentences: pd.DataFrame,
) -> tuple["np.ndarray[tuple[int], np.dtype[np.bool_]]", ...]:
    expected = sentences["expected"].astype(str).to_numpy()
    return expected != "none", expected == "yes"


def _resample_frames(
    unit: "pd.Series[str]", rng: np.random.Generator, resamples: int
) -> Iterator["np.ndarray[tuple[int], np.dtype[np.intp]]"]:
    """Yield the row indices of frames drawn with replacement."""
    of_unit = list(unit.groupby(unit, sort=False).indices.values())
    for drawn in rng.integers(0, len(of_unit), (resamples, len(of_unit))):
        yield np.concatenate([of_unit[number] for number in drawn])


def _interval_columns(name: str, drawn: list[float]) -> dict[str, object]:
    defined = np.array([value for value in drawn if not np.isnan(value)])
    if not len(defined):
        return {f"{name}_low": np.nan, f"{name}_high": np.nan}
    ends = percentile_interval(defined)
    if ends.low == ends.high:
        # Resampling frames changes nothing here, which does not mean certainty.
        return {f"{name}_low": np.nan, f"{name}_high": np.nan}
    return {f"{name}_low": ends.low, f"{name}_high": ends.high}


def _correlate_ranks(first: Floats, second: Floats) -> float:
    if len(first) < _FEWEST_SENTENCES or not np.ptp(first) or not np.ptp(second):
        return float("nan")
    return float(spearmanr(first, second).statistic)


def _compute_ceiling(answers: pd.DataFrame, context: Context) -> float:
    """Return the correlation that perfect knowledge of the true shares would reach."""
    sentence = answers["item_id"].astype(str) + "\0" + answers["version"].astype(str)
    rng = numpy_generator(context.seed, "split half")
    rows = answers.assign(chose_good=answers["said_yes"].astype(float), item_id=sentence)
    reliability = split_half(rows, rng, min(_MOST_SPLITS, context.resamples))
    return float(reliability["spearman_ceiling"].item())


def _models_table(relations: pd.DataFrame, context: Context) -> Table:
    rows = context.by_construction(relations)
    heading = full_titles(rows)
    measure = rows["measure"].map(MEASURES)
    label = rows["judge"].where(measure.isna(), rows["judge"] + ", " + measure.fillna(""))
    return context.table(
        "yes_no_models",
        "People and models, sentence by sentence",
        "Correlations of models' scores of single sentences with people's shares of yes, and how "
        "well the scores separate acceptable from unacceptable sentences.",
        rows.assign(group=heading, label=label),
        (
            Column("label", "", "text"),
            Column("spearman", "Spearman", "estimate"),
            Column("ceiling", "Ceiling", "number"),
            Column("area", "Area", "estimate"),
            Column("n_sentences", "Sentences", "count"),
        ),
        (
            "Spearman: a sentence's score and its share of yes. Ceiling: the correlation that "
            "perfect knowledge of people's shares would reach. Area: how often an acceptable "
            "sentence has a higher score (of people: share of yes) than an unacceptable one; .5 "
            "is chance. Intervals: 95%, over resampled frames; none if resampling changes "
            "nothing.",
            "Measures: "
            + "; ".join(f"{text}: {METRICS[metric]}" for metric, text in MEASURES.items())
            + ". SLOR needs a unigram model's scores (--unigram).",
        ),
        Section.ANSWERS,
    )


YES_NO_MODELS = Finding("yes_no_models", Section.ANSWERS, _run_models, needs=(Need.MODELS,))
