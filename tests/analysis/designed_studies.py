"""Runs of 2 x 2 designs, made from known effects: within participants, and mixed."""

from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.data.load import ExportedRun
from experiment.studies.study import Study, Trials
from tests.analysis.rated_study import LENGTH, STRUCTURE, island_run

LEVELS = ("plain", "careful")


def designed(run: ExportedRun, **changes: object) -> ExportedRun:
    """The run of a study whose tables are changed: factors, analysis, presentation."""
    study: Study = run.study
    parts = {"design": study.design, "analysis": study.analysis}
    for name, new in changes.items():
        own = parts.get(name)
        value = own.model_copy(update=new) if own is not None else new
        study = study.model_copy(update={name: value})
    return replace(run, study=study)


def choices(run: ExportedRun, right: np.ndarray) -> ExportedRun:
    """The same session with a choice of the expected version where ``right`` says so."""
    sides = np.where(right, "first", "second")
    responses = run.responses.drop(columns=["rating", "version"]).assign(
        chosen_side=sides, chose_good=right.astype(bool)
    )
    return designed(
        replace(run, responses=responses),
        response="sentence_pair",
        trial=Trials(),
        exclusion=[],
    )


def within(seed: int = 1, n_people: int = 40, frames: int = 24) -> ExportedRun:
    """Choices in a 2 x 2 within participants and frames: structure by length."""
    run = island_run(seed, n_people, frames)
    items = run.items.set_index("item_id").loc[run.responses["item_id"]]
    island = (items["own_structure"] == STRUCTURE[1]).to_numpy()
    long_ = (items["own_length"] == LENGTH[1]).to_numpy()
    logit = 1.2 - 0.4 * island - 0.5 * long_ - 0.8 * (island & long_)
    return choices(run, _drawn(run, logit, seed))


def mixed(seed: int = 2, n_people: int = 48, frames: int = 24) -> ExportedRun:
    """Choices in a 2 x 2: length within participants, instruction between them."""
    run = designed(island_run(seed, n_people, frames), design={"factors": {"instruction": LEVELS}},
                   analysis={"factors": ("length",)})  # fmt: skip
    people = run.participants.assign(list=np.arange(n_people) % 2)
    run = replace(run, participants=people)
    items = run.items.set_index("item_id").loc[run.responses["item_id"]]
    long_ = (items["own_length"] == LENGTH[1]).to_numpy()
    careful = run.responses["participant"].str[1:].astype(int).to_numpy() % 2 == 1
    logit = 0.6 - 0.6 * long_ + 0.4 * careful + 0.9 * (long_ & careful)
    return choices(run, _drawn(run, logit, seed))


def yes_no(seed: int = 3, n_people: int = 40, frames: int = 24) -> ExportedRun:
    """Yes or no to single sentences in a 2 x 2 within participants: nothing is expected."""
    run = within(seed, n_people, frames)
    said = run.responses["chose_good"].to_numpy(dtype=bool)
    responses = run.responses.assign(chose_good=None, said_yes=said, version="good")
    trials = run.trials.assign(good_side=None)
    return designed(replace(run, responses=responses, trials=trials), response="yes_no")


def _drawn(run: ExportedRun, logit: np.ndarray, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    person = pd.factorize(run.responses["participant"])[0]
    frame = run.responses["position"].to_numpy()
    varied = logit + rng.normal(0, 0.7, person.max() + 1)[person]
    varied = varied + rng.normal(0, 0.6, frame.max() + 1)[frame]
    slope = rng.normal(0, 0.9, person.max() + 1)[person]
    items = run.items.set_index("item_id").loc[run.responses["item_id"]]
    varied = varied + slope * (items["own_length"] == LENGTH[1]).to_numpy()
    return rng.random(len(varied)) < 1 / (1 + np.exp(-varied))
