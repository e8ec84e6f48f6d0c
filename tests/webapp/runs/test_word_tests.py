"""The score of a word test is a column of the exported participants, which analyses read."""

import json
import re
from pathlib import Path
from uuid import UUID

import pytest

from analysis.data.load import load_run
from experiment.studies.load import load_study
from webapp.database.engine import reading
from webapp.runs.export import export_run
from webapp.runs.launch import launch_run
from webapp.runs.runs import find_named_run

pytestmark = pytest.mark.one_database
# One of two words is accepted, and one of one nonwords: (50 + 0) / 2.
ANSWERS = {"bargain": "first", "lantern": "second", "mardow": "first"}


def test_the_score_of_a_participant_is_exported_and_read(client, sessions, clock, tmp_path: Path):
    study = load_study(str(Path(__file__).parents[3] / "docs" / "word_test"))
    with sessions() as session:
        run = launch_run(session, study, 1, "direct", now=clock(), code_version="0").ref
        session.commit()
    home = client.post(f"/run/{run}", data={"decision": "accept"}).location
    page = re.search(r'id="session">(.*?)</script>', client.get(home).get_data(as_text=True))
    assert page
    for trial in json.loads(page[1])["trials"]:
        if side := ANSWERS.get(trial["first"]):
            body = {"uuid": str(UUID(int=trial["position"], version=4)), "side": side,
                    "position": trial["position"], "input_method": "key", "rt_ms": 900}  # fmt: skip
            assert client.post(f"{home}answers", json=body).status_code == 200
    with reading(sessions) as session:
        export_run(session, find_named_run(session, run), tmp_path / "export")
    assert load_run(tmp_path / "export").participants["vocabulary"].tolist() == [25.0]
