"""The page that says what ``parallax doctor`` finds."""

import json

import pytest

from webapp.core.subprocesses import CommandResult
from webapp.researcher import installation
from webapp.users.roles import Role


@pytest.mark.one_database
def test_an_owner_sees_what_the_doctor_finds_with_what_to_do(app, instance, researcher):
    (instance / "notes.txt").touch()
    (instance / "notes.txt").chmod(0o644)
    page = researcher(Role.OWNER).get("/installation").text
    assert ">database</th><td>good</td>" in page
    assert "notes.txt" in page and "chmod -R go-rwx" in page
    assert page.index("<td>warning</td>") < page.index("<td>good</td>")


@pytest.mark.one_database
def test_faults_come_first_and_are_counted(researcher, monkeypatch):
    found = [
        {"check": "key", "level": "good", "says": "well", "remedy": ""},
        {"check": "disk", "level": "fault", "says": "<full>", "remedy": "make room"},
    ]
    monkeypatch.setattr(
        installation, "run_parallax", lambda *_: CommandResult(True, json.dumps(found))
    )
    page = researcher(Role.OWNER).get("/installation").text
    assert "1 fault, 0 warnings." in page and "&lt;full&gt;" in page
    assert page.index("make room") < page.index("<td>good</td>")


@pytest.mark.one_database
def test_checks_that_cannot_be_made_are_told(researcher, monkeypatch):
    monkeypatch.setattr(
        installation, "run_parallax", lambda *_: CommandResult(False, "a key is missing")
    )
    response = researcher(Role.OWNER).get("/installation")
    assert response.status_code == 500 and (
        "The installation could not be checked: a key is missing" in response.text
    )
