"""What the gate forbids stands on every page of the researchers."""

import pytest

from webapp.gate import gate, panel_call_counter
from webapp.gate.installation import Blocker, Operation
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database


def test_every_page_says_what_is_not_done_and_how_to_mend_it(researcher, monkeypatch):
    viewer = researcher(Role.VIEWER)
    sentence = "The server does not pay now: the ledger is old. Reconcile."
    assert sentence not in viewer.get("/").text
    found = [Blocker("the ledger is old", "Reconcile", frozenset({Operation.PAY}))]
    monkeypatch.setattr(gate, "CHECKS", {"example": lambda _connection, _installation: found})
    for page in ("/", "/sessions"):
        assert sentence in viewer.get(page).text


def test_every_page_names_the_runs_whose_panel_may_know_more_after_a_restore(
    researcher, run, sessions
):
    viewer = researcher(Role.VIEWER)
    assert "must not be repeated" not in viewer.get("/").text
    with sessions.begin() as session:
        panel_call_counter.hold_calls(session.connection(), run.id)
    for page in ("/", "/sessions"):
        shown = viewer.get(page).text
        assert "The server does not make panel calls that must not be repeated now" in shown
        assert f"List the reports on hold with: parallax reconcile {run.ref}." in shown
    with sessions.begin() as session:
        panel_call_counter.release_later_calls(session.connection(), run.id, 0)
    assert "must not be repeated" not in viewer.get("/").text
