"""Every headline number again, had the exclusion rules been set otherwise.

Steegen, S., Tuerlinckx, F., Gelman, A., & Vanpaemel, W. (2016). Increasing transparency through a
multiverse analysis. Perspectives on Psychological Science, 11(5), 702-712.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from analysis.join import judgments, on_items
from analysis.load import ExportedRun
from analysis.provenance import Provenance
from analysis.side_by_side import Column, Table
from analysis.statistics.accuracy import people_accuracy
from analysis.statistics.consistency import kappas_with_people
from analysis.statistics.correlation import spearman
from analysis.statistics.preferences import beside, preferences
from analysis.statistics.resample import numpy_generator
from experiment.errors import ParallaxError
from experiment.exclusion.rules import load_rule
from experiment.exclusion.verdict import verdict
from experiment.participation import State
from experiment.records import Judgment, Kind, Side
from experiment.studies.study import Rule, Study

# The rules are Python, applied to one participant at a time.
MOST_JUDGMENTS = 500_000
MOST_RESAMPLES = 1_000
_STEPS = (-2, -1, 1, 2)
_FACTORS = (0.5, 0.75, 1.25, 1.5)
_OF_MODEL = (
    ("accuracy", "Accuracy"),
    ("spearman", "Correlation with people"),
    ("kappa", "Error consistency with people"),
)


@dataclass(frozen=True, slots=True)
class Universe:
    """One way to have set the exclusion rules.

    Attributes:
        name: What differs from the run, such as "max_errors = 2".
        rules: The rules.
    """

    name: str
    rules: tuple[Rule, ...]


def universes(study: Study) -> list[Universe]:
    """Return the rules as set, no rule at all, and each number of each rule moved up and down.

    A whole number moves by one and by two, any other by a quarter and by half of itself; settings
    that the rule itself refuses are left out.
    """
    rules = tuple(study.exclusion)
    found = [Universe("as run", rules)]
    if rules:
        found.append(Universe("nobody excluded", ()))
    for place, rule in enumerate(rules):
        for changed, name in _settings(rule):
            found.append(Universe(name, (*rules[:place], changed, *rules[place + 1 :])))
    return found


def _settings(rule: Rule) -> Iterator[tuple[Rule, str]]:
    for key, value in (rule.model_extra or {}).items():
        for other in _others(value):
            changed = Rule.model_validate({**rule.model_dump(), key: other})
            if _accepted(changed):
                yield changed, f"{key} = {other:g}"


def _others(value: object) -> list[float]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return []
    if isinstance(value, int):
        return [value + step for step in _STEPS]
    return [value * factor for factor in _FACTORS]


def _accepted(rule: Rule) -> bool:
    try:
        load_rule(rule)
    except ParallaxError:
        return False
    return True


def multiverse_table(
    run: ExportedRun,
    decided: Mapping[str, pd.DataFrame],
    origin: Provenance,
    *,
    resamples: int,
    seed: int,
) -> Table | None:
    """Return the headline numbers, one column for each universe.

    These are people's accuracies, and each model's accuracy on the judged items, correlation and
    error consistency with people: whom the rules keep decides these as well.

    Args:
        run: The exported run; every participant who finished is judged again.
        decided: Each model's decisions, as ``analysis.join.decisions`` gives them.
        origin: Where the numbers come from.
        resamples: How many times to resample; at most ``MOST_RESAMPLES`` are taken.
        seed: The seed of the resampling.

    Returns:
        The table; None where the study has no rule or the run more than ``MOST_JUDGMENTS``.
    """
    chosen = universes(run.study)
    if len(chosen) == 1 or len(run.responses) > MOST_JUDGMENTS:
        return None
    sessions = _sessions(run)
    on_seen = on_items(decided, run.responses["item_id"])
    frame, columns = _labels(run.study, list(decided)), [Column("label", "", "text")]
    for universe in chosen:
        seen = _applied(run, sessions, universe.rules)
        n_kept, key = int(seen["kept"].sum()), universe.name
        if not n_kept:
            continue
        judged = judgments(replace(run, verdicts=seen))
        values = _headline(judged, on_seen, min(resamples, MOST_RESAMPLES), seed)
        renamed = {"value": key, "low": f"{key}_low", "high": f"{key}_high"}
        named = values.rename(columns=renamed)
        frame = frame.merge(named, "left", on="number").assign(**{f"{key}_participants": n_kept})
        columns.append(Column(key, f"{n_kept} kept", "estimate", over=universe.name))
    return Table(
        name="multiverse",
        title="Other thresholds",
        caption="The headline numbers, had the exclusion rules been set otherwise. "
        f"{origin.warning}".strip(),
        frame=frame,
        columns=tuple(columns),
        notes=(
            f"People's accuracy with intervals: 95%, bootstrap over participants and items, "
            f"{min(resamples, MOST_RESAMPLES):,} resamples. Models: accuracy on the judged items; "
            "Spearman's correlation, over items, of people's share with the model's difference; "
            "kappa of being right, mean over participants.",
        ),
        origin=tuple(origin.sentences),
        section="Exclusions",
    )


def _labels(study: Study, models: Sequence[str]) -> pd.DataFrame:
    rows = [("", "All judgments", "all")]
    rows += [(one.group, one.title, f"construction {one.name}") for one in study.constructions]
    rows += [(model, title, f"{key} {model}") for model in models for key, title in _OF_MODEL]
    return pd.DataFrame(rows, columns=["group", "label", "number"])


def _sessions(run: ExportedRun) -> dict[str, list[Judgment]]:
    """Return the judgments of each participant who finished, as the rules see them."""
    people = run.participants
    finished = people.loc[people["state"] == State.FINISHED, "participant"]
    rows = (
        run.responses[run.responses["participant"].isin(finished)]
        .merge(run.trials[["participant", "position", "kind"]], on=["participant", "position"])
        .merge(run.items[["item_id", "construction"]], on="item_id")
        .sort_values(["participant", "position"])
    )
    found: dict[str, list[Judgment]] = {}
    for row in rows.to_dict("records"):
        found.setdefault(row["participant"], []).append(_judgment(row))
    return found


def _judgment(row: dict[Hashable, Any]) -> Judgment:
    return Judgment(
        position=row["position"],
        item_id=row["item_id"],
        kind=Kind(row["kind"]),
        construction=row["construction"],
        chose_good=row["chose_good"],
        chosen_side=Side(row["chosen_side"]),
        rt_ms=None if pd.isna(row["rt_ms"]) else row["rt_ms"],
    )


def _applied(
    run: ExportedRun, sessions: dict[str, list[Judgment]], rules: Sequence[Rule]
) -> pd.DataFrame:
    verdicts = {person: verdict(rules, seen) for person, seen in sessions.items()}
    return pd.DataFrame(
        {
            "participant": list(verdicts),
            "kept": [one.kept for one in verdicts.values()],
            "rule": [one.rule for one in verdicts.values()],
        }
    ).astype({"kept": bool})


def _headline(
    judged: pd.DataFrame, decided: Mapping[str, pd.DataFrame], resamples: int, seed: int
) -> pd.DataFrame:
    return pd.concat([_of_people(judged, resamples, seed), *_of_models(judged, decided)])


def _of_people(judged: pd.DataFrame, resamples: int, seed: int) -> pd.DataFrame:
    found = []
    for key, prefix in (("all", ""), ("construction", "construction ")):
        rows = people_accuracy(
            judged.assign(all="all"), [key], numpy_generator(seed, "multiverse", key), resamples
        )
        named = rows.rename(columns={"accuracy": "value"}).assign(number=prefix + rows[key])
        found.append(named[["number", "value", "low", "high"]])
    return pd.concat(found, ignore_index=True)


def _of_models(judged: pd.DataFrame, decided: Mapping[str, pd.DataFrame]) -> Iterator[pd.DataFrame]:
    preferred, kappas = preferences(judged), kappas_with_people(judged, decided)
    for model, frame in decided.items():
        matched = beside(preferred, frame)
        values = (
            matched["correct"].mean(),
            spearman(matched["share_good"].to_numpy(), matched["difference_nats"].to_numpy()),
            kappas[model],
        )
        numbers = [f"{key} {model}" for key, _ in _OF_MODEL]
        yield pd.DataFrame({"number": numbers, "value": values})
