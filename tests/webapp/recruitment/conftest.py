import pytest

from tests.webapp.recruiters.mturk.conftest import (  # noqa: F401
    assignments,
    clock,
    control,
    endpoint,
    fail_once,
    instance,
    mturk_door,
    new_marketplace,
    participants,
    platform,
    publish_run,
    run,
    submit_form_of,
    worker,
)
from tests.webapp.test_transactions import OpenTransactions
from webapp.recruiters.mturk.client import MturkClient


@pytest.fixture(autouse=True)
def no_call_in_a_transaction(app, monkeypatch):
    """Let every call of the platform fail while a transaction of the server's is open."""
    transactions = OpenTransactions(app.extensions["parallax"].engine)
    call = MturkClient._call

    def watched(client: MturkClient, operation: str, **request: object) -> object:
        transactions.refuse()
        return call(client, operation, **request)

    monkeypatch.setattr(MturkClient, "_call", watched)
