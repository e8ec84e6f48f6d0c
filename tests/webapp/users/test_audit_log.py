"""The audit log shows whatever was done to it."""

import pytest
from sqlalchemy import delete, update

from webapp.database.models import AuditEntry
from webapp.users.audit_log import find_first_broken_entry, list_audit_entries, record_act


@pytest.fixture
def three_entries(sessions, clock):
    with sessions.begin() as session:
        for act in ("first", "second", "third"):
            record_act(session, "anna", act, clock(), before={"a": "é"}, after={"b": "2"})


def test_entries_are_numbered_and_bound_to_each_other(three_entries, session):
    entries = list(list_audit_entries(session))
    assert [entry.number for entry in entries] == [1, 2, 3]
    assert [entry.previous_hash for entry in entries] == ["", entries[0].hash, entries[1].hash]
    assert find_first_broken_entry(session) is None


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        (update(AuditEntry).where(AuditEntry.number == 2).values(who="bert"), 2),
        (update(AuditEntry).where(AuditEntry.number == 2).values(after={"b": "3"}), 2),
        (update(AuditEntry).where(AuditEntry.number == 3).values(previous_hash="0"), 3),
        (delete(AuditEntry).where(AuditEntry.number == 1), 1),
        (delete(AuditEntry).where(AuditEntry.number == 2), 2),
    ],
)
def test_whatever_is_changed_or_removed_shows(three_entries, sessions, change, broken):
    with sessions.begin() as session:
        session.execute(change)
        assert find_first_broken_entry(session) == broken


def test_a_deed_that_is_taken_back_leaves_no_entry(sessions, clock):
    with sessions() as session:
        record_act(session, "anna", "regretted", clock())
        session.rollback()
        assert list(list_audit_entries(session)) == []
