"""A whole run whose trials show a prefix and two ways to go on."""

import shutil
from dataclasses import replace
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path

import pytest
from sqlalchemy import select

from experiment.errors import StudyError
from experiment.materials.item_rows import item_row
from experiment.materials.read import load_items
from experiment.records import Item
from experiment.studies.load import STUDIES_FOLDER, load_study
from experiment.studies.study import Study
from experiment.tables.files import write_table
from experiment.tables.schemas import ITEMS
from webapp.database.models import Response, RunItem, Trial
from webapp.runs.launch import launch_run

pytestmark = pytest.mark.one_database

_NOW = datetime(2026, 3, 1, tzinfo=UTC)


def split(item: Item) -> Item:
    """The same pair with its common beginning as the context."""
    pairs = zip(item.good.split(), item.bad.split(), strict=True)
    context = " ".join(good for good, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    good, bad = (text.removeprefix(context).strip() for text in (item.good, item.bad))
    return replace(item, context=context, good=good, bad=bad)


@pytest.fixture
def folder(tmp_path) -> Path:
    folder = shutil.copytree(STUDIES_FOLDER / "minimal", tmp_path / "minimal")
    items = [item_row(split(item)) for item in load_items(load_study("minimal"))]
    write_table(ITEMS, items, folder / "items.csv")
    text = (folder / "study.toml").read_text("utf-8")
    text = text.replace('response = "sentence_pair"', 'response = "prefix_completion"')
    text = text.replace('grammar = "grammar.toml"', 'items = "items.csv"')
    text = text.replace("median_rt_ms = 3500\n", "")
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def prelaunched() -> bool:
    return False


@pytest.fixture
def study(folder) -> Study:
    return load_study(str(folder))


def test_the_page_shows_the_prefix_once_and_the_options_alone(start, run):
    session = start(run).session()
    assert session["response"] == "prefix_completion"
    for trial in session["trials"]:
        assert set(trial) == {"position", "first", "second", "prefix"}
        assert trial["prefix"].startswith("The ")
        assert not trial["first"].startswith("the ")


def test_simulated_participants_play_it_as_any_other(send, sessions, ready):
    assert ready().response.typical_rt_ms == 2500
    outcomes = send(responder="accurate", accuracy=1.0)
    assert not [outcome.problem for outcome in outcomes if outcome.problem]
    with sessions() as session:
        rows = session.execute(select(Response.chosen_side, Trial.good_side).join(Trial)).all()
    assert len(rows) == 64
    assert all(chosen == good for chosen, good in rows)


def test_items_that_cannot_be_shown_stop_the_launch(session, folder):
    path = folder / "study.toml"
    text = path.read_text("utf-8").replace('items = "items.csv"', 'grammar = "grammar.toml"')
    path.write_text(text, encoding="utf-8")
    study = load_study(str(folder))
    with pytest.raises(StudyError, match="has no context"):
        launch_run(session, study, 1, "direct", now=_NOW, code_version="0")
    assert not session.scalars(select(RunItem)).all()
