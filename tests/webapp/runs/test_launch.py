import shutil
from datetime import UTC, datetime
from itertools import product

import pytest
from sqlalchemy import func, select

from experiment.errors import DesignError, UnknownNameError
from experiment.studies.load import load_study
from webapp.database.models import Place, Run, RunItem
from webapp.errors import RunError
from webapp.runs.launch import launch_run

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def start(session, study, seed=1, recruiter="direct"):
    return launch_run(session, study, seed, recruiter, now=NOW, code_version="0.1.0+gabc")


def count(session, model) -> int:
    return session.execute(select(func.count()).select_from(model)).scalar_one()


def test_a_run_keeps_everything_needed_to_rebuild_it(session, study):
    run = start(session, study, seed=7)
    assert (run.study, run.study_version, run.seed) == ("minimal", "1.0", 7)
    assert load_study(run.study_folder) == study.model_copy(
        update={"folder": study.folder.resolve()}
    )
    assert (run.recruiter, run.simulated, run.code_version) == ("direct", False, "0.1.0+gabc")
    assert len(run.materials_hash) == 64
    assert run.launched_at == NOW


def test_every_list_and_place_is_stored(session, study):
    run = start(session, study)
    design = study.design
    places = session.execute(select(Place.list, Place.place).where(Place.run_id == run.id)).all()
    expected = product(range(design.lists), range(design.participants_per_list))
    assert sorted(map(tuple, places)) == list(expected)
    for list_ in range(design.lists):
        rows = session.scalars(select(RunItem).where(RunItem.list == list_)).all()
        assert sorted(row.list_order for row in rows) == list(range(design.trials_per_list))
        assert all(row.item["item_id"] == row.item_id for row in rows)


def test_the_same_seed_gives_the_same_lists_and_another_reference(session, study):
    runs = [start(session, study, seed=3) for _ in range(2)]
    first, second = (
        session.execute(
            select(RunItem.list, RunItem.item_id, RunItem.kind)
            .where(RunItem.run_id == run.id)
            .order_by(RunItem.list, RunItem.list_order)
        ).all()
        for run in runs
    )
    assert first == second
    assert runs[0].ref != runs[1].ref


def test_a_run_of_the_simulator_says_that_it_is_simulated(session, study):
    assert start(session, study, recruiter="simulator").simulated


def broken(study, tmp_path, old: str, new: str):
    folder = tmp_path / study.name
    shutil.copytree(study.folder, folder)
    toml = folder / "study.toml"
    text = toml.read_text(encoding="utf-8")
    assert old in text
    toml.write_text(text.replace(old, new), encoding="utf-8")
    return load_study(str(folder))


def test_a_broken_promise_stops_the_launch_and_nothing_is_written(session, study, tmp_path):
    wrong = broken(study, tmp_path, "trials_per_list = 8", "trials_per_list = 9")
    with pytest.raises(DesignError, match="trials"):
        start(session, wrong)
    assert (count(session, Run), count(session, RunItem), count(session, Place)) == (0, 0, 0)


@pytest.mark.parametrize(
    ("old", "new"),
    [('response = "sentence_pair"', 'response = "sentence_pear"')],
)
def test_an_unknown_presentation_stops_the_launch(session, study, tmp_path, old, new):
    with pytest.raises(UnknownNameError, match="sentence_pair"):
        start(session, broken(study, tmp_path, old, new))
    assert count(session, Run) == 0


def test_an_unknown_recruiter_is_answered_with_the_known_ones(session, study):
    with pytest.raises(UnknownNameError, match="direct, mturk, panel, prolific, simulator"):
        start(session, study, recruiter="direkt")


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_that_no_database_holds_is_refused(session, study, seed):
    with pytest.raises(RunError, match="not a valid seed"):
        start(session, study, seed=seed)
