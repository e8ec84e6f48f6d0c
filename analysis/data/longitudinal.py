"""Join the separately exported parts of one study into one run of returning participants."""

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
    """Join the parts of a study into one run; a returning participant is one participant.

    A participant keeps the list of the first part. Trial positions continue from part to part; each
    trial has its ``session``. Sessions in which a participant was excluded are left out; a
    participant who was kept in no part is excluded. Items with the same id but other words or
    another condition get new ids (``part_items``). Participants without a code (their data were
    erased, or they have no known origin) are left out.

    Args:
        runs: The parts, at least two.
        codes: The table written by ``parallax recruitment parts``: each code with its participant
            in each run.

    Raises:
        AnalysisError: A run is given twice, the table of codes is invalid or lacks a run, the parts
            have different response types, or a participant has no list in the first part or changes
            the level of a between-participant factor.
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
            # Exclusion rules were applied to each part separately.
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
    """Return the participants of all parts, one row per participant and part."""
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
    """Raise if a participant's level of a between-participant factor differs between parts."""
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
    """Raise if a participant has a list in a later part but none in the first."""
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
    """Return the trial tables of kept sessions, with positions that continue over the parts."""
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
    """Return each participant's first row, marked as finished if every part was finished."""
    finished = people["state"].astype(str) == State.FINISHED.value
    order = people.assign(unfinished=~finished)
    state = order.sort_values("unfinished", ascending=False, kind="stable").drop_duplicates(
        "participant"
    )
    rows = people.drop_duplicates("participant", ignore_index=True)
    states = state.set_index("participant")["state"]
    return rows.assign(state=rows["participant"].map(states))


def _first_kept(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return one verdict per participant: kept if any part kept them, else the first part's."""
    order = verdicts.sort_values("kept", ascending=False, kind="stable")
    return order.drop_duplicates("participant", ignore_index=True)


def _first_answers(parts: Sequence[Part]) -> pd.DataFrame | None:
    """Return each participant's first answer to each question; None without questionnaires."""
    found = [part.renamed(part.run.answers) for part in parts if part.run.answers is not None]
    if not found:
        return None
    return pd.concat(found).drop_duplicates(["participant", "field"], ignore_index=True)
