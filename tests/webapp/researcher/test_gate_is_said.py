"""What the gate forbids stands on every page of the researchers."""

import pytest

from webapp.gate import gate
from webapp.gate.premises import Act, Objection
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database


def test_every_page_says_what_is_not_done_and_how_to_mend_it(researcher, monkeypatch):
    viewer = researcher(Role.VIEWER)
    sentence = "The server does not pay now: the ledger is old. Reconcile."
    assert sentence not in viewer.get("/").text
    found = [Objection("the ledger is old", "Reconcile", frozenset({Act.PAY}))]
    monkeypatch.setattr(gate, "CHECKS", {"example": lambda _connection, _premises: found})
    for page in ("/", "/sessions"):
        assert sentence in viewer.get(page).text
