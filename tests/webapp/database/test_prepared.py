"""A statement on the driver's own cursor fails as SQLAlchemy's statements fail."""

import pytest
from sqlalchemy import Integer, bindparam, insert, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from webapp.database.models import Run, Stamp
from webapp.database.prepared import Prepared
from webapp.database.retry import is_transient


def test_what_breaks_a_rule_of_the_schema_is_an_integrity_error(sessions):
    row = {"name": "twice", "value": "1"}
    with sessions() as session:
        connection = session.connection()
        store = Prepared(insert(Stamp), connection.dialect, ("name", "value"))
        store.execute(connection, [row])
        with pytest.raises(IntegrityError) as caught:
            store.execute(connection, [row])
        assert not is_transient(caught.value)


@pytest.mark.one_database("postgresql")
def test_a_connection_that_is_lost_is_told_so_that_the_request_is_repeated(sessions):
    with sessions() as session:
        connection = session.connection()
        one = bindparam("run", type_=Integer)
        find = Prepared(select(Run.id).where(Run.id == one), connection.dialect)
        mine = connection.scalar(text("SELECT pg_backend_pid()"))
        with sessions() as other:
            other.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": mine})
        with pytest.raises(DBAPIError) as caught:
            find.fetch(connection, run=1)
        assert caught.value.connection_invalidated and is_transient(caught.value)
        session.rollback()
        connection = session.connection()
        assert find.fetch(connection, run=-1) == []


def test_a_list_of_unknown_length_is_no_statement_for_many_uses(sessions):
    with sessions() as session, pytest.raises(AssertionError, match="is_one_of"):
        Prepared(select(Run.id).where(Run.id.in_([1, 2])), session.get_bind().dialect)
