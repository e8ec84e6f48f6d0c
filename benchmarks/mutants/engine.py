"""Try mutants in forks of one process that has the tests at hand: a mutant costs its tests only.

Tests are collected once. A first fork runs them all and notes which lines each reaches. Then every
mutant has a fork of its own, where the changed function takes the place of the true one, and the
tests that reach its line run, the quickest first, until one fails.
"""

import ast
import importlib
import json
import os
import pickle
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import coverage
import pytest

from benchmarks.mutants.changes import Mutant
from benchmarks.mutants.put import forget, put

PATIENCE_S = 240
_BROKEN = 4
_Map = dict[str, dict[int, list[tuple[float, int]]]]


class Trial:
    """Tries mutants in place of a run of the tests; a plug-in of pytest.

    Args:
        mutants: What is tried.
        kept: The file that holds what became of each, a line of JSON for each.
        seconds: How long it tries in all; what is left waits for the next time.
        most_s: The processor time that the tests of a mutant take at most.
        children: How many forks run at a time.
    """

    def __init__(
        self, mutants: Sequence[Mutant], kept: Path, *, seconds: float, most_s: float, children: int
    ) -> None:
        self._mutants, self._kept, self._most_s = mutants, kept, most_s
        self._end, self._children = time.monotonic() + seconds, children
        self._failed = False
        self._items: list[Any] = []

    def pytest_runtest_logreport(self, report: Any) -> None:  # noqa: ANN401 - pytest's own
        """Note whether a test failed."""
        self._failed |= report.failed

    def pytest_runtestloop(self, session: Any) -> bool:  # noqa: ANN401 - pytest's own
        """Try the mutants in place of running the tests."""
        self._items = session.items
        session.config.pluginmanager.unregister(name="terminalreporter")  # only we print
        for file in {one.file for one in self._mutants}:  # plug-ins are loaded on demand
            importlib.import_module(".".join(file.with_suffix("").parts).removesuffix(".__init__"))
        # What tests share is made before the forks: only the last test takes it down.
        self._run(self._items[0])
        reached = self._map({str(one.file.resolve()) for one in self._mutants})
        tried = {json.loads(line)["id"] for line in self._lines()}
        waiting = [one for one in self._mutants if one.id not in tried]
        running: dict[int, Mutant] = {}
        while (waiting and time.monotonic() < self._end) or running:
            while waiting and len(running) < self._children and time.monotonic() < self._end:
                mutant = waiting.pop(0)
                tests = self._tests(reached, mutant)
                if not tests:
                    self._keep(mutant, "unreached", 0)
                    continue
                running[_forked(lambda m=mutant, t=tests: self._noticed(m, t))] = mutant
            if running:
                pid, status = os.wait()
                code = os.waitstatus_to_exitcode(status)
                known = {0: "survived", 1: "noticed", 3: "not applied", _BROKEN: "not applied"}
                self._keep(running.pop(pid), known.get(code, "ended"), code)
        return True

    def _lines(self) -> list[str]:
        return self._kept.read_text("utf-8").splitlines() if self._kept.exists() else []

    def _keep(self, mutant: Mutant, outcome: str, code: int) -> None:
        facts = {"id": mutant.id, "kind": mutant.kind, "outcome": outcome, "code": code}
        with self._kept.open("a", encoding="utf-8") as file:
            file.write(json.dumps(facts) + "\n")
        print(f"{outcome:10} {mutant.kind:10} {mutant.id}", file=sys.__stdout__, flush=True)

    def _map(self, files: set[str]) -> _Map:
        """Return by file and line which tests reach it, and how long each takes."""
        kept = self._kept.with_suffix(".map")
        if not kept.exists():
            pid = _forked(lambda: self._note(files, kept))
            os.waitpid(pid, 0)
        found: dict[str, Any] = pickle.loads(kept.read_bytes())
        numbers = {item.nodeid: n for n, item in enumerate(self._items)}
        return {
            file: {
                line: sorted((found["took"][test], numbers[test]) for test in tests
                             if test in numbers)
                for line, tests in lines.items()
            }
            for file, lines in found["reached"].items()
        }  # fmt: skip

    def _note(self, files: set[str], kept: Path) -> int:
        watch = coverage.Coverage(data_file=None, include=sorted(files), config_file=False)
        forget()
        watch.start()
        took = dict[str, float]()
        for item in self._items:
            watch.switch_context(item.nodeid)
            self._failed, before = False, time.process_time()
            self._run(item)
            if not self._failed:
                took[item.nodeid] = time.process_time() - before
        watch.stop()
        data = watch.get_data()
        reached = {
            file: {
                line: [test for test in tests if test in took]
                for line, tests in data.contexts_by_lineno(file).items()
            }
            for file in data.measured_files()
        }
        kept.write_bytes(pickle.dumps({"took": took, "reached": reached}))
        return 0

    def _run(self, item: Any) -> None:  # noqa: ANN401 - pytest's own
        next_ = next(one for one in (self._items[-1], self._items[0]) if one is not item)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=next_)

    def _tests(self, reached: _Map, mutant: Mutant) -> list[int]:
        lines = reached.get(str(mutant.file.resolve()), {})
        wanted = range(mutant.lines[0], mutant.lines[1] + 1)
        if mutant.name:
            uses = [node.lineno for node in ast.walk(ast.parse(mutant.file.read_text("utf-8")))
                    if isinstance(node, ast.Name) and node.id == mutant.name
                    and isinstance(node.ctx, ast.Load)]  # fmt: skip
            wanted = [line for line in uses if line in lines] or list(lines)
        found = {test for line in wanted for test in lines.get(line, ())}
        return [number for _, number in sorted(found)]

    def _noticed(self, mutant: Mutant, tests: Sequence[int]) -> int:
        resource.setrlimit(resource.RLIMIT_CPU, (int(4 * self._most_s),) * 2)
        signal.alarm(PATIENCE_S)
        if not put(mutant):
            return 3
        end = time.process_time() + self._most_s
        for number in tests:
            self._failed = False
            self._run(self._items[number])
            if self._failed:
                return 1
            if time.process_time() > end:
                return 0
        return 0


def _forked(do: Callable[[], int]) -> int:
    """Return the process that does something, and ends with what it returns."""
    pid = os.fork()
    if pid:
        return pid
    silent = os.open(os.devnull, os.O_WRONLY)
    log = os.dup(2)
    for descriptor in (1, 2):
        os.dup2(silent, descriptor)
    try:
        code = do()
    except BaseException:
        os.write(log, traceback.format_exc().encode())
        code = _BROKEN
    os._exit(code)


def try_all(tests: Sequence[str], trial: Trial) -> None:
    """Collect tests and try the mutants with them."""
    os.environ["COVERAGE_CORE"] = "ctrace"
    options = ("-q", "-p", "no:cacheprovider", "-o", "tmp_path_retention_policy=none")
    # Other plug-ins of pytest may be here already, with nothing that it would rewrite.
    quiet = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
    chosen = ("-k", "not postgresql and not test_every_statistic")
    pytest.main([*options, *quiet, *chosen, *tests], plugins=[trial])
