"""Join participants' judgments and models' decisions by item; a mismatch is an error."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.data.categorical import Codes, codes_in, decode, equal_text, take
from analysis.data.declared import frames_of, left_out_late, with_participants
from analysis.data.load import SESSION, ExportedRun, Scores
from analysis.data.n_alternatives import among_all, options_of
from analysis.data.own_columns import items_of, own_columns
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
        return replace(self, decisions=on_items(self.decisions, self.judgments["item_id"]))


def on_items(
    decisions: Mapping[str, pd.DataFrame], wanted: "pd.Series[str]"
) -> dict[str, pd.DataFrame]:
    """Return each model's decisions on the given items only, with categorical texts decoded.

    Args:
        decisions: Each model's decisions, as returned by ``decisions``.
        wanted: The items; each may occur more than once.
    """
    items = pd.Index(wanted.unique().tolist())
    return {
        model: decode(frame[codes_in(frame["item_id"], items) >= 0].reset_index(drop=True))
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
        check_same_items(run, model_scores, items, lambda: items_hash(run))
    options = options_of(run)
    of_models = {
        model_scores.facts.model: among_all(decisions(model_scores), model_scores, options)
        for model_scores in scores
    }
    return Joined(of_people, of_models, run.items)


def items_hash(run: ExportedRun) -> str:
    """Return the hash of the run's own items."""
    return materials_hash(items_of(run.items))


def judgments(run: ExportedRun, *, late_too: bool = False) -> pd.DataFrame:
    """Return the kept participants' judgments; ``late_too`` includes late ones left out by default.

    Returns:
        One row per judgment: participant, list, position, item_id, kind (in that list),
        construction, condition, frame (a number), good_side, chosen_side, chose_good, rt_ms,
        input_method; session, if the study has several parts; additional columns of the response
        type, such as version and rating; and the study's own columns of its items,
        between-participant factors, and the answers named in the study's ``[analysis]``, each as
        ``own_`` plus its header, numeric if all values are numbers. Texts are categorical, since
        there may be millions of rows; participants, items, constructions and conditions may have
        unused categories.

    Raises:
        AnalysisError: The tables contradict each other, or no judgment was kept.
    """
    people, items = (
        pd.Index(frame[key])
        for frame, key in ((run.participants, "participant"), (run.items, "item_id"))
    )
    answers, trials = run.responses, run.trials
    person, item = codes_in(answers["participant"], people), codes_in(answers["item_id"], items)
    _refuse(run, person < 0, "are of a participant whom the table participants lacks")
    _refuse(run, item < 0, "are about items that the table items lacks")
    shown = _trial_of(run, people, person)
    _refuse(run, shown < 0, "answer a trial that was not in the session")
    _refuse(run, codes_in(trials["item_id"], items)[shown] != item, "name another item")
    good_side = trials["good_side"].take(shown).reset_index(drop=True)
    _refuse(run, _contradictory(answers, good_side), "contradict the sides of their trial")
    order = _kept_in_order(run, people, person, late_too=late_too)
    if not len(order):
        raise AnalysisError(
            "no judgment is left to analyse: no participant with answers has a verdict of kept",
            where=str(run.folder),
            remedy="Apply the exclusion rules with `parallax exclude RUN` and export again",
        )
    person, item = person[order], item[order]
    own = answers.drop(columns=["participant", "item_id"]).take(order).reset_index(drop=True)
    frame = pd.DataFrame(
        {
            "participant": take(run.participants["participant"], person),
            "list": run.participants["list"].to_numpy()[person],
            "position": own["position"].astype(np.int32),
            "item_id": take(run.items["item_id"], item),
            "kind": trials["kind"].take(shown[order]).reset_index(drop=True).astype("category"),
            "construction": take(run.items["construction"], item),
            "condition": take(run.items["condition"], item),
            "frame": frames_of(run.items)[item],
            "good_side": good_side.take(order).reset_index(drop=True).astype("category"),
            "chosen_side": own["chosen_side"].astype("category"),
            "chose_good": own["chose_good"],
            "rt_ms": own["rt_ms"],
            "input_method": own["input_method"].astype("category"),
        }
    )
    if SESSION in trials:
        frame[SESSION] = trials[SESSION].to_numpy()[shown[order]]
    return _with_further(with_participants(frame, run), own, run.items, item)


def _contradictory(answers: pd.DataFrame, good_side: "pd.Series[str]") -> NDArray[np.bool_]:
    """Return the answers marked right or wrong in contradiction to the sides of their trials.

    Without a chosen or an expected side, an answer is neither right nor wrong.
    """
    chosen, told = answers["chosen_side"], answers["chose_good"]
    known = ~(_absent(chosen) | _absent(good_side))
    right = equal_text(chosen, good_side)
    says = told.fillna(value=False).to_numpy(dtype=bool)
    wrong: NDArray[np.bool_] = (told.notna().to_numpy() != known) | (known & (says != right))
    return wrong


def _absent(sides: "pd.Series[str]") -> NDArray[np.bool_]:
    absent: NDArray[np.bool_] = sides.isna().to_numpy() | (sides == "").to_numpy()
    return absent


def _with_further(
    frame: pd.DataFrame, own: pd.DataFrame, items: pd.DataFrame, item: Codes
) -> pd.DataFrame:
    """Add the additional columns of the response type, and the items' own columns."""
    for name in own.columns.difference([*frame.columns, *RESPONSES.column_names], sort=False):
        frame[name] = own[name]
    names = [name for name in own_columns(items) if name not in frame]
    brought = {name: _numbers_or_texts(items[name], item) for name in names}
    return pd.concat([frame, pd.DataFrame(brought, index=frame.index)], axis=1)


def _numbers_or_texts(
    values: "pd.Series[str]", item: Codes
) -> "NDArray[np.float64] | pd.Categorical":
    try:
        return pd.to_numeric(values).to_numpy(np.float64)[item]
    except ValueError:
        return take(values, item)


def _trial_of(run: ExportedRun, people: "pd.Index[str]", person: Codes) -> NDArray[np.intp]:
    """Return the row of ``run.trials`` that each response answers; -1 if there is none."""
    answers, trials = run.responses, run.trials
    most = 1 + max(frame["position"].max() for frame in (answers, trials) if len(frame))
    asked = person * np.int64(most) + answers["position"].to_numpy()
    known = codes_in(trials["participant"], people) * np.int64(most) + trials["position"].to_numpy()
    if np.array_equal(asked, known):
        return np.arange(len(asked))
    order = np.argsort(known, kind="stable")
    place = np.searchsorted(known, asked, sorter=order).clip(max=len(known) - 1)
    found = order[place] if len(order) else np.zeros(len(asked), np.intp)
    return np.where(known[found] == asked, found, -1) if len(order) else found - 1


def _kept_in_order(
    run: ExportedRun, people: "pd.Index[str]", person: Codes, *, late_too: bool
) -> NDArray[np.intp]:
    """Return the positions of kept participants' responses, by participant and trial position."""
    keeps = np.zeros(len(people), bool)
    of_kept = codes_in(run.verdicts.loc[run.verdicts["kept"], "participant"], people)
    keeps[of_kept[of_kept >= 0]] = True
    late = None if late_too else left_out_late(run)
    rows = np.flatnonzero(keeps[person] if late is None else keeps[person] & ~late)
    order = np.lexsort((run.responses["position"].to_numpy()[rows], person[rows]))
    return rows[order]


def _refuse(run: ExportedRun, wrong: NDArray[np.bool_], what: str) -> None:
    if wrong.any():
        pairs = run.responses.loc[wrong, ["participant", "position"]]
        listed = ", ".join(
            f"{participant} {position}"
            for participant, position in pairs.head(_SHOWN).itertuples(index=False)
        )
        raise AnalysisError(
            f"{int(wrong.sum())} responses {what}; the first (participant, position): {listed}",
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
    is_against = equal_text(frame["variant"], frame["contrast"])
    good, against = (
        _placed(frame["logprob_nats"], number, rows, len(items)) for rows in (is_good, is_against)
    )
    if len(against) and np.isnan(against).all():
        raise AnalysisError(
            "every item has one version alone, so there is none that the model could prefer",
            where=str(scores.path),
            expected="items with a good version and another",
            remedy="`parallax compare` relates such scores to ratings, and to yes and no",
        )
    lacking = items[np.isnan(good) | np.isnan(against)]
    _refuse_scores(scores, lacking, "lack the good version or its alternative")
    unknown = frame["n_unknown"].where(is_good | is_against, 0).to_numpy()
    described = frame.loc[is_good, ["item_id", "construction", "condition"]]
    order = number[is_good]
    return described.reset_index(drop=True).assign(
        logprob_good_nats=good[order],
        logprob_contrast_nats=against[order],
        correct=(good > against)[order],
        tie=(good == against)[order],
        n_unknown=np.bincount(number, unknown).astype(int)[order],
    )


def _placed(
    values: "pd.Series[float]", number: NDArray[np.intp], rows: NDArray[np.bool_], n: int
) -> NDArray[np.float64]:
    """Place the values of some rows at their items' positions; NaN for items without a value."""
    placed = np.full(n, np.nan)
    placed[number[rows]] = values.to_numpy()[rows]
    return placed


def _refuse_scores(scores: Scores, items: Iterable[str], what: str) -> None:
    if wrong := list(dict.fromkeys(items)):
        raise AnalysisError(
            f"the scores of {len(wrong)} item(s) {what}; the first: {_first(wrong)}",
            where=str(scores.path),
            remedy="Score the materials again with `parallax lm score`",
        )


def check_same_items(
    run: ExportedRun, scores: Scores, judged: Sequence[str], items_hash: Callable[[], str]
) -> None:
    """Check that the scores are of the run's materials and cover every judged item.

    Args:
        run: The exported run.
        scores: One model's scores.
        judged: The ids of the judged items.
        items_hash: Returns the hash of the run's own items, for scores of those items only.

    Raises:
        AnalysisError: Another study or version, another materials hash, or items not scored.
    """
    seen, facts = scores.facts, run.facts
    where = f"{run.folder} and {scores.path}"
    asked = pd.Index(judged)
    found = np.zeros(len(asked) + 1, bool)
    found[codes_in(scores.frame["item_id"], asked)] = True
    if missing := sorted(asked[~found[:-1]]):
        raise AnalysisError(
            f"{len(missing)} judged item(s) have no scores; the first: {_first(missing)}",
            where=where,
            expected="a score for every item of the run",
            remedy=_OF_PARTS
            if run.of_parts
            else f"Score the materials of {facts.study} {facts.study_version} again",
        )
    if seen.study and (seen.study, seen.study_version) != (facts.study, facts.study_version):
        raise AnalysisError(
            f"the run is of {facts.study} {facts.study_version}, but the scores are of "
            f"{seen.study} {seen.study_version}",
            where=where,
            expected="one study in one version",
        )
    if seen.materials_hash != facts.materials_hash and seen.materials_hash != items_hash():
        raise AnalysisError(
            f"the run's materials have the hash {facts.materials_hash[:12]}, those scored "
            f"{seen.materials_hash[:12]}",
            where=where,
            expected="the same materials",
            remedy="Score the study's materials again with `parallax lm score`",
        )


def _first(ids: list[str]) -> str:
    return ", ".join(ids[:_SHOWN])
