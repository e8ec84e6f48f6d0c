"""A run of typed answers whose study declares categories."""

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from experiment.studies.load import load_study
from tests.webapp.researcher.conftest import browser, password_hash, researcher  # noqa: F401
from webapp.database.models.run import Coder

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "typed"
CODING = """
[coding]
question = "What kind of thing is it?"
repeated = 0.0

[[coding.categories]]
name = "alive"
title = "Alive"

[[coding.categories]]
name = "thing"
title = "A thing"
answers = ["House"]

[[coding.training]]
text = "The ___ barked."
answer = "dog"
category = "alive"
"""


def study_with(folder: Path, coding: str):
    copied = shutil.copytree(EXAMPLE, folder / "typed")
    with (copied / "study.toml").open("a", encoding="utf-8") as file:
        file.write(coding)
    return load_study(str(copied))


@pytest.fixture
def coding() -> str:
    return CODING


@pytest.fixture
def prelaunched() -> bool:
    return False


@pytest.fixture
def study(tmp_path, coding):
    return study_with(tmp_path, coding)


@dataclass
class CoderAtWork:
    """A coder at their link."""

    client: FlaskClient
    address: str

    def page(self) -> str:
        response = self.client.get(self.address)
        assert response.status_code == 200
        return response.text

    def cards(self) -> list[dict]:
        found = re.search(r'id="work">(.*?)</script>', self.page(), re.DOTALL)
        return json.loads(found[1])["work"]["cards"]

    def send(self, card: Mapping[str, object], category: str) -> TestResponse:
        body = {"round": card["round"], "answer": card["answer"], "category": category}
        return self.client.post(f"{self.address}/codes", json=body)

    def code(self, categories: Mapping[str, str]) -> None:
        """Code each answer as the mapping says."""
        for card in self.cards():
            assert self.send(card, categories[card["typed"]]).status_code == 200


@pytest.fixture
def coder(researcher, run, sessions, app):  # noqa: F811
    """Return a function that makes a coder's link on the researcher's page."""
    here = []

    def make(label: str, task: str = "code") -> CoderAtWork:
        from webapp.users.roles import Role

        here.append(here[0] if here else researcher(Role.RESEARCHER))
        made = here[0].post(f"/runs/{run.ref}/coding/coders", label=label, task=task)
        assert made.status_code == 303, made.text
        with sessions() as session:
            newest = session.scalars(select(Coder).order_by(Coder.id.desc())).first()
            return CoderAtWork(app.test_client(), f"/coding/{newest.token}")

    return make
