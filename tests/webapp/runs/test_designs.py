"""Designs beyond squares go from the study's folder through the pages to the export."""

import json
import shutil
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from analysis.data.join import judgments
from analysis.data.load import load_run
from experiment.design.lists import build_lists
from experiment.materials.read import load_items
from experiment.studies.load import load_study
from experiment.tables.files import read_table
from experiment.tables.schemas import ITEMS, LISTS, PARTICIPANTS, TRIALS
from tests.experiment.design.small_studies import DESIGNS
from webapp.database.engine import reading
from webapp.runs.exclude import store_verdicts
from webapp.runs.export import export_run

pytestmark = pytest.mark.one_database


@pytest.fixture
def prelaunched() -> bool:
    return False


@pytest.fixture(params=["two_factors", "given_groups"])
def study(request: pytest.FixtureRequest):
    return load_study(str(DESIGNS / request.param))


@pytest.fixture
def exported(study, send, sessions, simulated_run, tmp_path) -> Path:
    send(participants=study.design.n_places)
    with sessions.begin() as session:
        store_verdicts(session, session.merge(simulated_run), datetime(2026, 3, 1, tzinfo=UTC))
    with reading(sessions) as session:
        export_run(session, simulated_run, tmp_path / "export")
    return tmp_path / "export"


@pytest.fixture(scope="module")
def read_only() -> dict[str, Path]:
    """The exports of this module, by the study and the database."""
    return {}


@pytest.fixture
def folder(request, database_url, study, read_only, tmp_path_factory) -> Path:
    """A run of the study, sent and exported once for all tests: they only read it."""
    name = f"{study.name} {'postgresql' if database_url else 'sqlite'}"
    if name not in read_only:
        folder = tmp_path_factory.mktemp("exports") / "run"
        read_only[name] = shutil.copytree(request.getfixturevalue("exported"), folder)
    return read_only[name]


def test_everybody_sees_the_list_of_their_levels_and_the_export_names_them(study, folder):
    built = build_lists(study, load_items(study), load_run(folder).facts.seed)
    people = list(read_table(PARTICIPANTS, folder / "participants.csv", extended=True))
    assert Counter(row["list"] for row in people) == {
        list_: study.design.places(list_) for list_ in range(study.design.n_lists)
    }
    seen: dict[object, set[object]] = {}
    for row in read_table(TRIALS, folder / "trials.csv"):
        seen.setdefault(row["participant"], set()).add(row["item_id"])
    for row in people:
        entries = built.lists[row["list"]]
        assert seen[row["participant"]] == {entry.item.item_id for entry in entries}
        levels = {factor: row[factor] for factor in study.design.factors}
        assert levels == study.design.levels(row["list"])
    for row in read_table(LISTS, folder / "lists.csv", extended=True):
        levels = {factor: row[factor] for factor in study.design.factors}
        assert levels == study.design.levels(row["list"])


@pytest.mark.both_databases
def test_an_item_of_several_lists_is_exported_once(study, folder):
    ids = [row["item_id"] for row in read_table(ITEMS, folder / "items.csv", extended=True)]
    listed = [row["item_id"] for row in read_table(LISTS, folder / "lists.csv", extended=True)]
    assert len(ids) == len(set(ids)) < len(listed)
    assert set(ids) == set(listed)


def test_the_codebook_names_the_role_of_each_column_of_the_design(study, folder):
    package = json.loads((folder / "datapackage.json").read_text("utf-8"))
    fields = {
        (one["name"], field["name"]): field.get("role")
        for one in package["resources"]
        if one.get("type") == "table"
        for field in one["schema"]["fields"]
    }
    for factor in study.design.factors:
        assert fields["participants", factor] == "factor between participants"
        assert fields["lists", factor] == "factor between participants"
    assert fields["items", "frame"] == "unit that repeats"
    assert fields["items", "kind"] == "kind"
    assert fields["items", "good"] is None


def test_the_analysis_knows_everybodys_level_of_a_factor_between_participants(study, folder):
    judged = judgments(load_run(folder))
    for factor in study.design.factors:
        own = judged[f"own_{factor}"].astype(str)
        assert set(own) <= set(study.design.factors[factor])
        assert (own.groupby(judged["participant"].astype(str)).nunique() == 1).all()
