"""Seen before? Accuracy on a study's items against fresh ones, and a test of memorised items."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from analysis.data.declared import clustering_column
from analysis.data.join import decisions, join
from analysis.data.kinds import keep_targets
from analysis.data.load import Scores
from analysis.errors import AnalysisError
from analysis.findings.finding import Finding, FindingInputs, Findings
from analysis.statistics.memorised import (
    FEWEST_DRAWS,
    can_tell,
    half_logprobs,
    is_memorised,
    prefer_study,
    subtract_fresh,
)
from analysis.statistics.resample import codes
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section
from experiment.materials.fresh import parse_parallel_id
from experiment.records import Variant

_PARTS = {"text": "whole text", "half": "second half, given the first"}


def _analyse(inputs: FindingInputs) -> Findings:
    if not inputs.options.fresh:
        return Findings()
    fresh = {part.facts.model: part for part in inputs.options.fresh if isinstance(part, Scores)}
    own = {scores.facts.model: scores for scores in inputs.as_read}
    _refuse_other_models(own, fresh)
    accuracies = pd.DataFrame(_accuracy_rows(inputs, own, fresh))
    judged = inputs.data.judgments["item_id"].astype(str).unique().tolist()
    preferences = pd.DataFrame(
        row for model in fresh for row in _preference_rows(own[model], fresh[model], judged)
    )
    tables, statistics = [_accuracy_table(inputs, accuracies)], {"old_minus_fresh": accuracies}
    verdicts: list[str] = []
    if len(preferences):
        by_model = preferences.groupby("judge", sort=False)
        verdicts = [_conclude(rows, str(model)) for model, rows in by_model]
        tables.append(_memorised_table(inputs, preferences))
        statistics["memorised"] = preferences
    left_out = tuple(_left_out(inputs, own, fresh))
    return Findings(tuple(tables), statistics, left_out, summary=tuple(verdicts))


def _refuse_other_models(own: dict[str, Scores], fresh: dict[str, Scores]) -> None:
    for model, scores in fresh.items():
        if model not in own:
            raise AnalysisError(
                f'the fresh items were scored by "{model}", which is not compared',
                where=str(scores.path),
                expected=f"scores of one of: {', '.join(own) or 'no model'}",
                remedy="Give its scores of the study's items with --scores",
            )
        for name in ("model_hash", "rendering"):
            of_study, of_fresh = (getattr(s.facts, name) for s in (own[model], scores))
            if of_study != of_fresh:
                raise AnalysisError(
                    f"{model} scored the study's items and the fresh ones differently: their "
                    f'{name} is "{of_study}" and "{of_fresh}"',
                    where=f"{own[model].path} and {scores.path}",
                    remedy="Score the fresh items again, with the same model and --rendering",
                )


def _left_out(
    inputs: FindingInputs, own: dict[str, Scores], fresh: dict[str, Scores]
) -> Iterator[str]:
    for model in own:
        if model not in fresh:
            yield f"Whether {model} has seen the items is left out: it scored no fresh ones."
    for taken in inputs.options.takers:
        if taken.model not in own:
            yield (
                f"Whether {taken.model} memorised items cannot be told: only its answers are "
                "known, not its log-probabilities of the items."
            )


def _accuracy_rows(
    inputs: FindingInputs, own: dict[str, Scores], fresh: dict[str, Scores]
) -> Iterator[dict[str, object]]:
    judged = inputs.data.judgments
    frames = judged.drop_duplicates("item_id").set_index("item_id")[clustering_column(judged)]
    frames.index = frames.index.astype(str)
    for run in inputs.options.fresh:
        if isinstance(run, Scores):
            continue
        again = keep_targets(join(run, [])).judgments
        yield _compare_sides("People", judged, again, frames, str(run.folder))
    for model, scores in fresh.items():
        on_study = decisions(own[model])
        on_study = on_study[on_study["item_id"].astype(str).isin(frames.index)]
        sides = [
            side[["item_id", "correct"]].rename(columns={"correct": "chose_good"})
            for side in (on_study, decisions(scores))
        ]
        yield _compare_sides(model, sides[0], sides[1], frames, str(scores.path))


def _compare_sides(
    judge: str,
    of_study: pd.DataFrame,
    of_fresh: pd.DataFrame,
    frames: "pd.Series[int]",
    where: str,
) -> dict[str, object]:
    """Return the difference of a judge's accuracies, with fresh items in their parallel's frame."""
    parallel = [parse_parallel_id(name) for name in of_fresh["item_id"].astype(str)]
    known = np.array([fresh and name in frames.index for name, _, fresh in parallel], bool)
    if not known.any():
        raise AnalysisError(
            "no item is parallel to an item that people judged",
            where=where,
            expected="judgments or scores of items that `parallax materials fresh` drew",
        )
    names = [*of_study["item_id"].astype(str), *(name for name, _, _ in parallel)]
    is_fresh = np.repeat([False, True], [len(of_study), len(of_fresh)])
    kept = np.concatenate([np.full(len(of_study), True), known])
    people = [side.get("participant", pd.Series("", side.index)) for side in (of_study, of_fresh)]
    correct = pd.concat([of_study["chose_good"], of_fresh["chose_good"]]).to_numpy(float)
    units = codes(frames.reindex(np.array(names)[kept]).to_numpy())[0]
    person = codes(pd.concat(people).astype(str).to_numpy()[kept])[0]
    return {
        "judge": judge,
        **subtract_fresh(correct[kept], is_fresh[kept], person, units),
        "n_items": of_study["item_id"].nunique(),
        "n_fresh": of_fresh.loc[known, "item_id"].nunique(),
        "n_frames": len(np.unique(units)),
        "n_judgments": int(kept.sum()),
    }


def _preference_rows(
    of_study: Scores, of_fresh: Scores, judged: Sequence[str]
) -> Iterator[dict[str, object]]:
    """Yield the test of memorised items for whole texts, and for their second halves."""
    study, drawn = _read_expected(of_study), _read_expected(of_fresh)
    study = study[study["draw"].eq(0) & study["parallel_to"].isin(judged)]
    for part, title in _PARTS.items():
        own = study.set_index("parallel_to")[part]
        draws = drawn[drawn["draw"] > 0].pivot(index="parallel_to", columns="draw")
        draws = draws[draws.index.isin(own.index)].dropna()
        draws = draws.iloc[np.flatnonzero(draws["is_fresh"].to_numpy(bool).any(axis=1))]
        if draws.empty:
            continue
        preference = prefer_study(
            own[draws.index].to_numpy(float),
            draws[part].to_numpy(float),
            draws["is_fresh"].to_numpy(bool),
        )
        yield {
            "judge": of_study.facts.model,
            "part": title,
            **asdict(preference),
            "n_items": len(draws),
            "n_draws": draws[part].shape[1],
        }


def _read_expected(scores: Scores) -> pd.DataFrame:
    """Return log-probabilities of expected versions: parallel_to, draw, is_fresh, text, half."""
    columns = ["item_id", "variant", "logprob_nats", "token_logprobs_nats"]
    frame = pq.read_table(scores.path, columns=columns).to_pandas()
    expected = frame[frame["variant"].astype(str) == Variant.GOOD].reset_index(drop=True)
    origins = [parse_parallel_id(name) for name in expected["item_id"].astype(str)]
    return pd.DataFrame(origins, columns=["parallel_to", "draw", "is_fresh"]).assign(
        text=expected["logprob_nats"], half=half_logprobs(expected["token_logprobs_nats"])
    )


def _accuracy_table(inputs: FindingInputs, accuracies: pd.DataFrame) -> Table:
    return inputs.context.table(
        "old_minus_fresh",
        "The study's items and fresh ones",
        "Accuracy on the study's items and on fresh items of the same templates and words.",
        accuracies.assign(label=accuracies["judge"]),
        (
            Column("label", "", "text"),
            Column("study", "Study"),
            Column("fresh", "Fresh"),
            Column("difference", "Study minus fresh", "estimate"),
            Column("n_items", "Items", "count"),
            Column("n_fresh", "Fresh items", "count"),
            Column("n_judgments", "Judgments", "count"),
        ),
        (
            "Models decide by the log-probability. Intervals: 95%, clustered by participant and "
            "frame; a fresh item counts to the frame of the item that it is parallel to.",
            "A model that is better on the study's items than on fresh ones, while people are not, "
            "may have seen them. A model that is right without its memory shows no difference.",
        ),
        Section.SEEN,
    )


def _memorised_table(inputs: FindingInputs, preferences: pd.DataFrame) -> Table:
    notes = (
        "Gain: mean log-probability of the study's expected versions minus that of the fresh ones. "
        "Rank: the mean share of an item's fresh ones that are less probable (.5 without a "
        "preference); first: the share of items that are more probable than all of these.",
        "p: the share of the study and its draws, study sentences in them included, that are at "
        "least as probable in sum; exact if the words of the study's frames were combined at "
        "random, as Parallax does. Combinations chosen by hand for their sense have higher ranks "
        "in models that have not seen them.",
    )
    return inputs.context.table(
        "memorised",
        "Memorised items",
        "Whether a model prefers the study's items to other combinations of the same words "
        "(after Oren et al., 2024).",
        preferences.assign(group=preferences["judge"], label=preferences["part"]),
        (
            Column("label", "", "text"),
            Column("gain", "Gain, nats", "signed"),
            Column("rank", "Rank", "number"),
            Column("first", "First", "number"),
            Column("p", "p", "p"),
            Column("n_items", "Items", "count"),
            Column("n_draws", "Draws", "count"),
        ),
        notes,
        Section.SEEN,
    )


def _conclude(rows: pd.DataFrame, model: str) -> str:
    """Return the conclusion of both tests of a model, with Bonferroni's correction."""
    if rows["n_draws"].min() < FEWEST_DRAWS:
        return (
            f"{model}: {rows['n_draws'].min()} draws are too few to tell whether it has seen the "
            f"study's items. Draw at least {FEWEST_DRAWS} (parallax materials fresh --draws)."
        )
    if not can_tell(rows["least_p"].to_numpy()):
        return (
            f"{model}: whether it has seen the study's items cannot be told, because its frames "
            "allow so few combinations of their words that draws often repeat the whole study."
        )
    if is_memorised(rows["p"].to_numpy()):
        return f"{model} prefers the study's items: it has probably seen them."
    return f"{model}: no sign that it has seen the study's items; a few copies may leave none."


SEEN = Finding("seen", Section.SEEN, _analyse)
