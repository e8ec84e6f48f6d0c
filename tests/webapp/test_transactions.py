"""Who ends a transaction, and that none is open while a platform is called.

The packages' ``__init__`` say it; this holds them to it. The fixtures of the tests of recruitment
and payments ask ``OpenTransactions`` at every call of a platform.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import get_ident

import pytest
from sqlalchemy import Connection, Engine, event, text

from webapp.database.engine import reading

WEBAPP = Path(__file__).parents[2] / "webapp"
ENDS = {"commit", "begin", "rollback", "driver_transaction"}
# A batch's transaction belongs to all who are in it, so none of them can end it.
# What the first of two people asks for is kept although nothing is done yet.
BY_TWO = [
    ("blinding.py", "unblind_with_second_person"),
    ("second_person.py", "find_first_requester"),
    ("second_person.py", "check_second_person"),
]
BATCH = ("record_batch.py", "record_in_one_transaction")


class OpenTransactions:
    """Knows, of each thread, how many transactions it has begun and not ended."""

    def __init__(self, engine: Engine) -> None:
        self._open = Counter[int]()
        for name, by in (("begin", 1), ("commit", -1), ("rollback", -1)):
            event.listen(engine, name, partial(self._count, by))

    def refuse(self) -> None:
        """Fail where this thread has one.

        Raises:
            AssertionError: It has.
        """
        assert self._open[get_ident()] == 0, "a platform is called while a transaction is open"

    def _count(self, by: int, _connection: Connection) -> None:
        self._open[get_ident()] += by


def functions(package: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for path in sorted((WEBAPP / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                yield path.name, node


def parameters(function: ast.FunctionDef) -> list[str]:
    every = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return [ast.unparse(one.annotation) for one in every if one.annotation is not None]


def called_methods(function: ast.FunctionDef) -> set[str]:
    calls = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
    return {
        call.attr if isinstance(call, ast.Attribute) else call.id
        for call in calls
        if isinstance(call, ast.Attribute | ast.Name)
    }


@pytest.mark.parametrize("package", ["sessions", "runs"])
def test_a_step_ends_no_transaction_and_knows_no_platform(package):
    found = [
        (file, function.name)
        for file, function in functions(package)
        if called_methods(function) & ENDS or {"Platform", "Sessions"} & {*parameters(function)}
    ]
    assert found == ([BATCH] if package == "sessions" else BY_TWO)


@pytest.mark.parametrize("package", ["sessions", "runs"])
def test_a_step_imports_no_platform(package):
    sources = [path.read_text("utf-8") for path in (WEBAPP / package).rglob("*.py")]
    assert sources and not any("recruiters.platform" in source for source in sources)


@pytest.mark.parametrize("package", ["recruitment", "payments"])
def test_who_calls_a_platform_takes_the_factory_and_never_an_open_session(package):
    callers = [
        (function.name, parameters(function))
        for _, function in functions(package)
        if "Platform" in parameters(function)
    ]
    assert len(callers) > 4
    assert [name for name, given in callers if "Session" in given] == []


def test_an_open_transaction_is_noticed_however_it_ends(app, sessions):
    transactions = OpenTransactions(app.extensions["parallax"].engine)
    for end in ("commit", "rollback", "close"):
        with sessions() as session:
            session.execute(text("SELECT 1"))
            with pytest.raises(AssertionError, match="while a transaction is open"):
                transactions.refuse()
            getattr(session, end)()
            transactions.refuse()
    with reading(sessions) as session, pytest.raises(AssertionError):
        transactions.refuse()
    transactions.refuse()
