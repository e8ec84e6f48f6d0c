"""The lists that a process keeps."""

from webapp.database.engine import reading
from webapp.sessions import run_lists


def test_a_list_is_found_while_another_thread_forgets_all_lists(run, sessions, monkeypatch):
    class Forgotten(dict[object, object]):
        def __setitem__(self, key: object, value: object) -> None:
            """Keep nothing: the other thread was there at once."""

    with reading(sessions) as session:
        connection = session.connection()
        monkeypatch.setitem(run_lists._LISTS, connection.engine, Forgotten())
        assert len(run_lists.run_list(connection, run, 0).entries) == 8
