"""Several parts of one study, each exported by itself, as one run of people who came again."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from analysis.data.load import SESSION, ExportedRun
from analysis.data.part_codes import OF_TRIALS, Part, apart, parts_of
from analysis.errors import AnalysisError
from experiment.participation import State
from experiment.studies.study import Construction


def longitudinal(runs: Sequence[ExportedRun], codes: Path) -> ExportedRun:
    """Return the parts of a study as one run, in which whoever came again is one participant.

    A person keeps the list of their first part. Trials are counted on from part to part, and say
    their ``session``, as the export of each part does. A session of which somebody was excluded is
    left out; who was kept in none is excluded. Items of the same id with other words or another
    condition are told apart (``part_items``). People without a code (who were forgotten, or came
    from nowhere) are in no row.

    Args:
        runs: The parts, at least two.
        codes: The table that ``parallax recruitment parts`` wrote: code, and each run's people.

    Raises:
        AnalysisError: A run is given twice, the table of codes is not sound or lacks a run, the
            parts ask for different things, or a person has no list in their first part or is of
            other levels of a factor in another part.
    """
    parts = parts_of(runs, codes)
    first = parts[0].run
    _refuse_other_tasks(parts)
    people = _people(parts, codes)
    _refuse_other_levels(parts, people)
    exported = tuple(part.run for part in parts)
    items, parts = apart(parts)
    trials = _of_trials(parts)
    verdicts = pd.concat([part.renamed(part.run.verdicts) for part in parts], ignore_index=True)
    return replace(
        first,
        folder=codes,
        facts=first.facts.model_copy(
            update={
                "run": " ".join(part.run.facts.run for part in parts),
                "still_filling": any(part.run.facts.still_filling for part in parts),
            }
        ),
        study=first.study.model_copy(
            # Rules were applied to each part by itself.
            update={"constructions": _constructions(parts), "exclusion": []}
        ),
        items=items,
        participants=_first_rows(people),
        trials=trials["trials"],
        responses=trials["responses"],
        verdicts=_first_kept(verdicts),
        answers=_first_answers(parts),
        readings=trials.get("readings"),
        parts=exported,
    )


def _people(parts: Sequence[Part], codes: Path) -> pd.DataFrame:
    """Return the participants of all parts, each as often as they came."""
    people = pd.concat([part.renamed(part.run.participants) for part in parts], ignore_index=True)
    if people.empty:
        raise AnalysisError(
            "nobody of the runs is in the table of codes",
            where=str(codes),
            expected="the participants of the exports",
            remedy="Write the table again: parallax recruitment parts RUN1 RUN2",
        )
    return people


def _refuse_other_tasks(parts: Sequence[Part]) -> None:
    first = parts[0].run.study
    for part in parts[1:]:
        study = part.run.study
        own = (study.response, study.trial.parameters, study.design.factors)
        if own != (first.response, first.trial.parameters, first.design.factors):
            raise AnalysisError(
                f'the study "{study.name}" asks for something else than "{first.name}"',
                where=str(part.run.folder),
                expected="parts of the same response, parameters of it, and factors between people",
                remedy="Compare this part by itself, with its --run alone",
            )


def _refuse_other_levels(parts: Sequence[Part], people: pd.DataFrame) -> None:
    """Raise where a factor between participants is none over the parts."""
    first = people.drop_duplicates("participant").set_index("participant")["list"]
    _refuse_later_lists(parts, first[first.isna()].index)
    lists = first.to_dict()
    levels = parts[0].run.study.design.levels
    for part in parts:
        own = part.renamed(part.run.participants).dropna(subset="list")
        for person, number in zip(own["participant"], own["list"], strict=True):
            if part.run.study.design.levels(int(number)) != levels(int(lists[person])):
                raise AnalysisError(
                    f"the participant of the code {person} is of other levels of the factors "
                    f"between participants than in an earlier part",
                    where=str(part.run.folder),
                    expected="the same levels of a person in every part",
                    remedy="Compare this part by itself, with its --run alone",
                )


def _refuse_later_lists(parts: Sequence[Part], without: "pd.Index[str]") -> None:
    """Raise where somebody without a list in their first part has one later."""
    for part in parts:
        own = part.renamed(part.run.participants).dropna(subset="list")["participant"]
        if len(late := own[own.isin(without)]):
            raise AnalysisError(
                f"the participant of the code {late.iloc[0]} has no list in their first part, "
                "but one in this",
                where=str(part.run.folder),
                expected="in the table of codes nobody but who was given a list",
                remedy="Write the table again: parallax recruitment parts RUN1 RUN2",
            )


def _of_trials(parts: Sequence[Part]) -> dict[str, pd.DataFrame]:
    """Return the tables of trials of the sessions of which people were kept, counted on."""
    found: dict[str, list[pd.DataFrame]] = {}
    before = 0
    for part in parts:
        kept = part.run.verdicts.loc[part.run.verdicts["kept"], "participant"].astype(str)
        for table in OF_TRIALS:
            if (frame := getattr(part.run, table)) is None:
                continue
            own = frame[frame["participant"].astype(str).isin(set(kept))]
            own = own.assign(position=own["position"] + before)
            if table == "trials":
                own = own.assign(**{SESSION: part.session})
            found.setdefault(table, []).append(part.renamed(own))
        before += int(part.run.trials["position"].max()) if len(part.run.trials) else 0
    return {table: pd.concat(frames, ignore_index=True) for table, frames in found.items()}


def _constructions(parts: Sequence[Part]) -> list[Construction]:
    by_name = {one.name: one for part in reversed(parts) for one in part.run.study.constructions}
    order = dict.fromkeys(one.name for part in parts for one in part.run.study.constructions)
    return [by_name[name] for name in order]


def _first_rows(people: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each person: of their first part; finished if they finished each."""
    finished = people["state"].astype(str) == State.FINISHED.value
    order = people.assign(unfinished=~finished)
    state = order.sort_values("unfinished", ascending=False, kind="stable").drop_duplicates(
        "participant"
    )
    rows = people.drop_duplicates("participant", ignore_index=True)
    states = state.set_index("participant")["state"]
    return rows.assign(state=rows["participant"].map(states))


def _first_kept(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return one verdict for each person: kept in a part, else why they were not in the first."""
    order = verdicts.sort_values("kept", ascending=False, kind="stable")
    return order.drop_duplicates("participant", ignore_index=True)


def _first_answers(parts: Sequence[Part]) -> pd.DataFrame | None:
    """Return each person's first answer to each question; None where nobody knows them."""
    found = [part.renamed(part.run.answers) for part in parts if part.run.answers is not None]
    if not found:
        return None
    return pd.concat(found).drop_duplicates(["participant", "field"], ignore_index=True)
