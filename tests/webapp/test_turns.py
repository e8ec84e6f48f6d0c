import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Engine, event, text
from sqlalchemy.exc import OperationalError

from webapp.db import make_engine, make_sessions, reading


@pytest.fixture
def engine(tmp_path):
    engine = make_engine(f"sqlite:///{tmp_path}/db.sqlite3")
    # Whoever meets SQLite's own lock fails at once.
    event.listen(engine, "connect", lambda raw, _: raw.execute("PRAGMA busy_timeout=0"))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE counted (number INTEGER)"))
        connection.execute(text("INSERT INTO counted VALUES (0)"))
    yield engine
    engine.dispose()


def count_one(engine: Engine, fail: bool = False) -> None:
    with make_sessions(engine)() as session:
        number = session.execute(text("SELECT number FROM counted")).scalar_one()
        session.execute(text("UPDATE counted SET number = :number"), {"number": number + 1})
        if fail:
            raise ZeroDivisionError
        session.commit()


def counted(engine: Engine) -> int:
    with reading(make_sessions(engine)) as session:
        return session.execute(text("SELECT number FROM counted")).scalar_one()


def test_writers_of_one_process_never_meet_sqlites_own_lock(engine):
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: count_one(engine), range(200)))
    assert counted(engine) == 200


def test_a_turn_ends_with_its_transaction_however_that_ends(engine):
    with pytest.raises(ZeroDivisionError):
        count_one(engine, fail=True)
    with make_sessions(engine)() as session:
        session.execute(text("SELECT 1"))
        session.connection().invalidate()
    with engine.connect() as connection:
        for _ in range(2):
            with connection.begin():
                connection.execute(text("UPDATE counted SET number = number + 1"))
    with pytest.raises(OperationalError, match="no such table"), engine.begin() as connection:
        connection.execute(text("SELECT * FROM missing"))
    count_one(engine)
    assert counted(engine) == 3


def test_readers_take_no_turn(engine):
    with make_sessions(engine)() as session:
        session.execute(text("UPDATE counted SET number = 7"))
        assert counted(engine) == 0
        session.commit()
    assert counted(engine) == 7


def test_processes_take_turns_too(engine):
    program = (
        "import sys; from test_turns import count_one; from webapp.db import make_engine;"
        "from sqlalchemy import event; engine = make_engine(sys.argv[1]);"
        "event.listen(engine, 'connect', lambda raw, _: raw.execute('PRAGMA busy_timeout=0'));"
        "[count_one(engine) for _ in range(100)]"
    )
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    command = [sys.executable, "-c", program, str(engine.url)]
    others = [subprocess.Popen(command, env=here) for _ in range(2)]
    assert [other.wait(timeout=60) for other in others] == [0, 0]
    assert counted(engine) == 200


def test_the_turn_of_a_process_that_dies_goes_to_the_next(engine):
    program = (
        "import os, sys; from sqlalchemy import text; from webapp.db import make_engine;"
        "connection = make_engine(sys.argv[1]).connect(); connection.execute(text('SELECT 1'));"
        "print(flush=True); os.kill(os.getpid(), 9)"
    )
    command = [sys.executable, "-c", program, str(engine.url)]
    assert subprocess.run(command, stdout=subprocess.PIPE, timeout=60).stdout == b"\n"
    count_one(engine)
    assert counted(engine) == 1
