"""Join participants' judgments and models' decisions by item; a mismatch is an error."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.data.categorical import Codes, decode_texts, find_codes, have_equal_text, take_values
from analysis.data.declared import (
    add_participant_columns,
    find_dropped_late_responses,
    number_frames,
)
from analysis.data.inclusion import add_inclusion, load_inclusion
from analysis.data.load import SESSION_COLUMN, ExportedRun, Scores
from analysis.data.n_alternatives import decide_among_all, find_options
from analysis.data.own_columns import list_own_columns, make_items
from analysis.errors import AnalysisError
from experiment.materials.read import materials_hash
from experiment.records import Variant
from experiment.tables.schemas import RESPONSES

_SHOWN = 10
_OF_PARTS = (
    "Score the materials of each part, and name each file with --scores; or compare the parts "
    "together without --scores"
)


@dataclass(frozen=True, slots=True)
class Joined:
    """Participants' judgments and models' decisions about the same items.

    Attributes:
        judgments: One row per judgment, as returned by ``judgments``.
        decisions: Each model's decisions on its scored items, as returned by ``decisions``.
        items: The run's table of items.
        others: Judgments of fillers and catch trials, which no other statistic includes.
    """

    judgments: pd.DataFrame
    decisions: Mapping[str, pd.DataFrame]
    items: pd.DataFrame
    others: pd.DataFrame = field(default_factory=pd.DataFrame)

    def on_judged_items(self) -> "Joined":
        """Return the same judgments, with the models' decisions on the judged items only."""
        return replace(self, decisions=select_items(self.decisions, self.judgments["item_id"]))


def select_items(
    decisions: Mapping[str, pd.DataFrame], item_ids: "pd.Series[str]"
) -> dict[str, pd.DataFrame]:
    """Return each model's decisions on the given items only, with categorical texts decoded.

    Args:
        decisions: Each model's decisions, as returned by ``decisions``.
        item_ids: The items; each may occur more than once.
    """
    items = pd.Index(item_ids.unique().tolist())
    return {
        model: decode_texts(frame[find_codes(frame["item_id"], items) >= 0].reset_index(drop=True))
        for model, frame in decisions.items()
    }


def join(run: ExportedRun, scores: Sequence[Scores]) -> Joined:
    """Return a run's judgments and each model's decisions.

    Raises:
        AnalysisError: The tables contradict each other, or the scores are not of the run's items.
    """
    of_people = judgments(run)
    items = of_people["item_id"].unique().tolist()
    for model_scores in scores:
        check_same_items(run, model_scores, items, lambda: hash_items(run))
    options, frames = find_options(run), load_inclusion(run)
    of_models = {
        model_scores.facts.model: add_inclusion(
            decide_among_all(decisions(model_scores), model_scores, options), run.items, frames
        )
        for model_scores in scores
    }
    return Joined(of_people, of_models, run.items)


def hash_items(run: ExportedRun) -> str:
    """Return the hash of the run's own items."""
    return materials_hash(make_items(run.items))


def judgments(run: ExportedRun, *, late_too: bool = False) -> pd.DataFrame:
    """Return the kept participants' judgments; ``late_too`` includes late ones left out by default.

    Returns:
        One row per judgment: participant, list, position, item_id, kind (in that list),
        construction, condition, frame (a number), good_side, chosen_side, chose_good, rt_ms,
        input_method; session, if the study has several parts; additional columns of the response
        type, such as version and rating; those of ``add_inclusion``; and the study's own columns of
        its items, between-participant factors, and the answers named in ``[analysis]``, each as
        ``own_`` plus its header, numeric if all values are numbers. Texts are categorical, since
        there may be millions of rows, of participants, items and conditions with unused categories.

    Raises:
        AnalysisError: The tables contradict each other, or no judgment was kept.
    """
    people, items = pd.Index(run.participants["participant"]), pd.Index(run.items["item_id"])
    answers, trials = run.responses, run.trials
    person, item = find_codes(answers["participant"], people), find_codes(answers["item_id"], items)
    _refuse_responses(run, person < 0, "are of a participant whom the table participants lacks")
    _refuse_responses(run, item < 0, "are about items that the table items lacks")
    trial_rows = _find_trial_rows(run, people, person)
    _refuse_responses(run, trial_rows < 0, "answer a trial that was not in the session")
    _refuse_responses(
        run, find_codes(trials["item_id"], items)[trial_rows] != item, "name another item"
    )
    good_side = trials["good_side"].take(trial_rows).reset_index(drop=True)
    contradictions = _find_contradictions(answers, good_side)
    _refuse_responses(run, contradictions, "contradict the sides of their trial")
    order = _order_kept_responses(run, people, person, late_too=late_too)
    if not len(order):
        raise AnalysisError(
            'no judgment is left to analyse: no participant with answers has the verdict "kept"',
            where=str(run.folder),
            remedy="Apply the exclusion rules with `parallax exclude RUN` and export again",
        )
    person, item = person[order], item[order]
    kept_answers = answers.drop(columns=["participant", "item_id"]).take(order)
    kept_answers = kept_answers.reset_index(drop=True)
    kinds = trials["kind"].take(trial_rows[order]).reset_index(drop=True)
    frame = pd.DataFrame(
        {
            "participant": take_values(run.participants["participant"], person),
            "list": run.participants["list"].to_numpy()[person],
            "position": kept_answers["position"].astype(np.int32),
            "item_id": take_values(run.items["item_id"], item),
            "kind": kinds.astype("category"),
            "construction": take_values(run.items["construction"], item),
            "condition": take_values(run.items["condition"], item),
            "frame": number_frames(run.items)[item],
            "good_side": good_side.take(order).reset_index(drop=True).astype("category"),
            "chosen_side": kept_answers["chosen_side"].astype("category"),
            "chose_good": kept_answers["chose_good"],
            "rt_ms": kept_answers["rt_ms"],
            "input_method": kept_answers["input_method"].astype("category"),
        }
    )
    if SESSION_COLUMN in trials:
        frame[SESSION_COLUMN] = trials[SESSION_COLUMN].to_numpy()[trial_rows[order]]
    frame = add_inclusion(add_participant_columns(frame, run), run.items, load_inclusion(run))
    return _add_further_columns(frame, kept_answers, run.items, item)


def _find_contradictions(answers: pd.DataFrame, good_side: "pd.Series[str]") -> NDArray[np.bool_]:
    """Return the answers marked right or wrong in contradiction to the sides of their trials.

    Without a chosen or an expected side, an answer is neither right nor wrong.
    """
    chosen, chose_good = answers["chosen_side"], answers["chose_good"]
    has_sides = ~(_is_absent(chosen) | _is_absent(good_side))
    right = have_equal_text(chosen, good_side)
    marked_right = chose_good.fillna(value=False).to_numpy(dtype=bool)
    wrong: NDArray[np.bool_] = (chose_good.notna().to_numpy() != has_sides) | (
        has_sides & (marked_right != right)
    )
    return wrong


def _is_absent(sides: "pd.Series[str]") -> NDArray[np.bool_]:
    absent: NDArray[np.bool_] = sides.isna().to_numpy() | (sides == "").to_numpy()
    return absent


def _add_further_columns(
    frame: pd.DataFrame, answers: pd.DataFrame, items: pd.DataFrame, item: Codes
) -> pd.DataFrame:
    """Add the additional columns of the response type, and the items' own columns."""
    for name in answers.columns.difference([*frame.columns, *RESPONSES.column_names], sort=False):
        frame[name] = answers[name]
    names = [name for name in list_own_columns(items) if name not in frame]
    item_columns = {name: _numbers_or_texts(items[name], item) for name in names}
    return pd.concat([frame, pd.DataFrame(item_columns, index=frame.index)], axis=1)


def _numbers_or_texts(
    values: "pd.Series[str]", item: Codes
) -> "NDArray[np.float64] | pd.Categorical":
    try:
        return pd.to_numeric(values).to_numpy(np.float64)[item]
    except ValueError:
        return take_values(values, item)


def _find_trial_rows(run: ExportedRun, people: "pd.Index[str]", person: Codes) -> NDArray[np.intp]:
    """Return the row of ``run.trials`` that each response answers; -1 if there is none."""
    answers, trials = run.responses, run.trials
    n_positions = 1 + max(frame["position"].max() for frame in (answers, trials) if len(frame))
    response_keys = person * np.int64(n_positions) + answers["position"].to_numpy()
    trial_keys = (
        find_codes(trials["participant"], people) * np.int64(n_positions)
        + trials["position"].to_numpy()
    )
    if np.array_equal(response_keys, trial_keys):
        return np.arange(len(response_keys))
    order = np.argsort(trial_keys, kind="stable")
    index = np.searchsorted(trial_keys, response_keys, sorter=order).clip(max=len(trial_keys) - 1)
    trial_rows = order[index] if len(order) else np.zeros(len(response_keys), np.intp)
    return (
        np.where(trial_keys[trial_rows] == response_keys, trial_rows, -1)
        if len(order)
        else trial_rows - 1
    )


def _order_kept_responses(
    run: ExportedRun, people: "pd.Index[str]", person: Codes, *, late_too: bool
) -> NDArray[np.intp]:
    """Return the positions of kept participants' responses, by participant and trial position."""
    is_kept = np.zeros(len(people), bool)
    of_kept = find_codes(run.verdicts.loc[run.verdicts["kept"], "participant"], people)
    is_kept[of_kept[of_kept >= 0]] = True
    late_responses = None if late_too else find_dropped_late_responses(run)
    rows = np.flatnonzero(
        is_kept[person] if late_responses is None else is_kept[person] & ~late_responses
    )
    order = np.lexsort((run.responses["position"].to_numpy()[rows], person[rows]))
    return rows[order]


def _refuse_responses(run: ExportedRun, wrong: NDArray[np.bool_], problem: str) -> None:
    if wrong.any():
        pairs = run.responses.loc[wrong, ["participant", "position"]]
        first_pairs = ", ".join(
            f"{participant} {position}"
            for participant, position in pairs.head(_SHOWN).itertuples(index=False)
        )
        raise AnalysisError(
            f"{int(wrong.sum())} responses {problem}; the first (participant, position): "
            f"{first_pairs}",
            where=str(run.folder),
            remedy="The tables come from different exports: export the run again",
        )


def decisions(scores: Scores) -> pd.DataFrame:
    """Return a model's choice on each item: the version with the higher log-probability.

    Returns:
        One row per item, in the file's order: item_id, construction, condition, logprob_good_nats,
        logprob_contrast_nats, correct, tie, n_unknown. A tie is not correct.

    Raises:
        AnalysisError: A version of an item was not scored, a score is not a number, or no item has
            two versions.
    """
    frame = scores.frame
    _refuse_scores(scores, frame.loc[frame["logprob_nats"].isna(), "item_id"], "are not numbers")
    number, items = pd.factorize(frame["item_id"])
    is_good = (frame["variant"] == Variant.GOOD).to_numpy()
    is_alternative = have_equal_text(frame["variant"], frame["contrast"])
    good, alternative = (
        _place_by_item(frame["logprob_nats"], number, rows, len(items))
        for rows in (is_good, is_alternative)
    )
    if len(alternative) and np.isnan(alternative).all():
        raise AnalysisError(
            "every item has a single version, so a model has nothing to choose between",
            where=str(scores.path),
            expected="items with a good version and another",
            remedy="`parallax compare` relates such scores to ratings, and to yes and no",
        )
    unscored_items = items[np.isnan(good) | np.isnan(alternative)]
    _refuse_scores(scores, unscored_items, "lack the good version or its alternative")
    unknown = frame["n_unknown"].where(is_good | is_alternative, 0).to_numpy()
    item_columns = frame.loc[is_good, ["item_id", "construction", "condition"]]
    order = number[is_good]
    return item_columns.reset_index(drop=True).assign(
        logprob_good_nats=good[order],
        logprob_contrast_nats=alternative[order],
        correct=(good > alternative)[order],
        tie=(good == alternative)[order],
        n_unknown=np.bincount(number, unknown).astype(int)[order],
    )


def _place_by_item(
    values: "pd.Series[float]", number: NDArray[np.intp], rows: NDArray[np.bool_], n: int
) -> NDArray[np.float64]:
    """Place the values of some rows at their items' positions; NaN for items without a value."""
    placed = np.full(n, np.nan)
    placed[number[rows]] = values.to_numpy()[rows]
    return placed


def _refuse_scores(scores: Scores, items: Iterable[str], problem: str) -> None:
    if wrong := list(dict.fromkeys(items)):
        raise AnalysisError(
            f"the scores of {len(wrong)} item(s) {problem}; the first: {_list_first(wrong)}",
            where=str(scores.path),
            remedy="Score the materials again with `parallax lm score`",
        )


def check_same_items(
    run: ExportedRun, scores: Scores, judged_ids: Sequence[str], own_hash: Callable[[], str]
) -> None:
    """Check that the scores are of the run's materials and cover every judged item.

    Args:
        run: The exported run.
        scores: One model's scores.
        judged_ids: The ids of the judged items.
        own_hash: Returns the hash of the run's own items, for scores of those items only.

    Raises:
        AnalysisError: Another study or version, another materials hash, or items not scored.
    """
    score_facts, facts = scores.facts, run.facts
    where = f"{run.folder} and {scores.path}"
    judged_items = pd.Index(judged_ids)
    is_scored = np.zeros(len(judged_items) + 1, bool)
    is_scored[find_codes(scores.frame["item_id"], judged_items)] = True
    if missing := sorted(judged_items[~is_scored[:-1]]):
        raise AnalysisError(
            f"{len(missing)} judged item(s) have no scores; the first: {_list_first(missing)}",
            where=where,
            expected="a score for every item of the run",
            remedy=_OF_PARTS if run.of_parts else f"Score the materials of {facts.source} again",
        )
    # Judgments collected elsewhere name no study: their materials' hash alone is compared.
    of_scores = score_facts.study, score_facts.study_version
    if all((score_facts.study, facts.study)) and of_scores != (facts.study, facts.study_version):
        raise AnalysisError(
            f"the run is of {facts.study} {facts.study_version}, but the scores "
            f"are for {score_facts.study} {score_facts.study_version}",
            where=where,
            expected="one study in one version",
        )
    if (
        score_facts.materials_hash != facts.materials_hash
        and score_facts.materials_hash != own_hash()
    ):
        raise AnalysisError(
            f"the run's materials have the hash {facts.materials_hash[:12]}, those of "
            f"the scores {score_facts.materials_hash[:12]}",
            where=where,
            expected="the same materials",
            remedy="Score the study's materials again with `parallax lm score`",
        )


def _list_first(ids: list[str]) -> str:
    return ", ".join(ids[:_SHOWN])
