"""Try mutants in forks of one process that has the tests at hand: a mutant costs its tests only.

Tests are collected once. A first fork runs them all and notes which lines each reaches. What tests
share is then made once, by the quickest test of each file. Every mutant has a fork of its own,
where the changed function takes the place of the true one, and the tests that reach its line run
until one fails: first those that noticed a change nearby, then the quickest.
"""

import ast
import importlib
import json
import os
import pickle
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import coverage
import pytest

from benchmarks.mutants.changes import Mutant
from benchmarks.mutants.put import Place, forget

# By the clock, for each test: it may wait for what never comes, on a busy machine.
PATIENCE_S = 240
# Of the processor: a test that takes this many times what it took, and a second, goes in a circle.
_TIMES = 8
_BROKEN = 4
_NEAR = 5
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
        self._sounds: dict[int, bool] = {}
        self._any: Any = None  # stands for the next test where it is not known

    def pytest_runtest_logreport(self, report: Any) -> None:  # noqa: ANN401 - pytest's own
        """Note whether a test failed."""
        self._failed |= report.failed

    def pytest_runtestloop(self, session: Any) -> bool:  # noqa: ANN401 - pytest's own
        """Try the mutants in place of running the tests."""
        self._items = session.items
        session.config.pluginmanager.unregister(name="terminalreporter")  # only we print
        for file in {one.file for one in self._mutants}:  # plug-ins are loaded on demand
            importlib.import_module(".".join(file.with_suffix("").parts).removesuffix(".__init__"))
        chains = [item.listchain()[:-1] for item in self._items]
        level = takewhile(lambda each: len(set(each)) == 1, zip(*chains, strict=False))
        shared = [each[0] for each in level]
        self._any = SimpleNamespace(listchain=lambda: shared)
        self._run(self._items[0])
        reached, took = self._map({str(one.file.resolve()) for one in self._mutants})
        self._warm(took)
        place = Place({str(one.file.resolve()) for one in self._mutants})
        known = [json.loads(line) for line in self._lines()]
        numbers = {item.nodeid: n for n, item in enumerate(self._items)}
        by_id = {one.id: one for one in self._mutants}
        # Where which test noticed something.
        killers = [(by_id[one["id"]], numbers[one["by"]]) for one in known
                   if one.get("by") in numbers and one["id"] in by_id]  # fmt: skip
        tried = {one["id"] for one in known}
        waiting = [one for one in self._mutants if one.id not in tried]
        running: dict[int, tuple[Mutant, int]] = {}
        while (waiting and time.monotonic() < self._end) or running:
            while waiting and len(running) < self._children and time.monotonic() < self._end:
                mutant = waiting.pop(0)
                reach = [one for one in self._tests(reached, mutant) if self._sounds.get(one, True)]
                tests = list(_ordered(reach, killers, mutant))
                if not tests:
                    self._keep(mutant, "unreached")
                    continue
                told, tells = os.pipe()
                pid = _forked(
                    lambda m=mutant, t=tests, p=tells: self._noticed(m, t, took, place, p)
                )
                os.close(tells)
                running[pid] = mutant, told
            if running:
                pid, status, used = os.wait3(0)
                mutant, told = running.pop(pid)
                by = _last(told)
                code = os.waitstatus_to_exitcode(status)
                known_as = {0: "survived", 1: "noticed", 3: "not applied", _BROKEN: "not applied"}
                outcome = known_as.get(code, "ended")
                noticed = outcome in ("noticed", "ended") and by is not None
                if noticed and not self._sound(by):
                    waiting.append(mutant)
                    continue
                self._keep(
                    mutant, outcome, code=code, cpu=round(used.ru_utime + used.ru_stime, 2),
                    by=self._items[by].nodeid if noticed else None,
                )  # fmt: skip
                if noticed:
                    killers.append((mutant, by))
        return True

    def _sound(self, number: int) -> bool:
        """Return whether a test passes in a fork where nothing is changed."""
        if number in self._sounds:
            return self._sounds[number]

        def run() -> int:
            self._failed = False
            self._run(self._items[number])
            return int(self._failed)

        self._sounds[number] = passed = os.waitpid(_forked(run), 0)[1] == 0
        if not passed:
            print(f"fails unchanged {self._items[number].nodeid}", file=sys.__stdout__, flush=True)
        return passed

    def _lines(self) -> list[str]:
        return self._kept.read_text("utf-8").splitlines() if self._kept.exists() else []

    def _keep(self, mutant: Mutant, outcome: str, **more: object) -> None:
        facts = {"id": mutant.id, "kind": mutant.kind, "outcome": outcome, **more}
        with self._kept.open("a", encoding="utf-8") as file:
            file.write(json.dumps(facts) + "\n")
        print(f"{outcome:10} {mutant.kind:10} {mutant.id}", file=sys.__stdout__, flush=True)

    def _warm(self, took: dict[str, float]) -> None:
        """Make what tests share, by the quickest test of each file."""
        quickest: dict[str, Any] = {}
        for item in sorted(self._items, key=lambda one: took.get(one.nodeid, float("inf"))):
            if item.nodeid in took:
                quickest.setdefault(item.nodeid.partition("::")[0], item)
        for item in quickest.values():
            self._run(item)

    def _map(self, files: set[str]) -> tuple[_Map, dict[str, float]]:
        """Return by file and line which tests reach it, and how long each takes."""
        kept = self._kept.with_suffix(".map")
        if not kept.exists():
            pid = _forked(lambda: self._note(files, kept))
            os.waitpid(pid, 0)
        found: dict[str, Any] = pickle.loads(kept.read_bytes())
        numbers = {item.nodeid: n for n, item in enumerate(self._items)}
        reached = {
            file: {
                line: sorted((found["took"][test], numbers[test]) for test in tests
                             if test in numbers)
                for line, tests in lines.items()
            }
            for file, lines in found["reached"].items()
        }  # fmt: skip
        return reached, found["took"]

    def _note(self, files: set[str], kept: Path) -> int:
        watch = coverage.Coverage(data_file=None, include=sorted(files), config_file=False)
        caches = forget()
        watch.start()
        took = dict[str, float]()
        for item in self._items:
            watch.switch_context(item.nodeid)
            for cache in caches:  # or only the first test would reach what is remembered
                cache.cache_clear()
            self._failed, before = False, time.process_time()
            self._run(item)
            if self._failed:
                print(f"fails unchanged {item.nodeid}", file=sys.__stdout__, flush=True)
            else:
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

    def _run(self, item: Any, next_: Any = None) -> None:  # noqa: ANN401 - pytest's own
        """Run one test, and take down what neither all tests nor the next one needs."""
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=next_ or self._any)

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

    def _noticed(
        self, mutant: Mutant, tests: Sequence[int], took: dict[str, float], place: Place, tells: int
    ) -> int:
        if not place.put(mutant):
            return 3
        end = time.process_time() + self._most_s
        for number, after in zip(tests, [*tests[1:], None], strict=True):
            item = self._items[number]
            self._failed = False
            os.write(tells, number.to_bytes(4))
            most = time.process_time() + 2 + _TIMES * took[item.nodeid]
            resource.setrlimit(resource.RLIMIT_CPU, (int(most), resource.RLIM_INFINITY))
            signal.alarm(PATIENCE_S)
            self._run(item, None if after is None else self._items[after])
            if self._failed:
                return 1
            if time.process_time() > end:
                return 0
        return 0


def _ordered(
    tests: Sequence[int], killers: Sequence[tuple[Mutant, int]], mutant: Mutant
) -> Iterator[int]:
    """Yield tests, first those that noticed the changes nearest to a mutant."""
    reach = set(tests)
    near = sorted(
        (abs(other.line - mutant.line), -count, test)
        for count, (other, test) in enumerate(killers)
        if other.file == mutant.file and test in reach
    )
    first = list(dict.fromkeys(test for _, _, test in near))[:_NEAR]
    yield from first
    yield from (test for test in tests if test not in first)


def _last(told: int) -> int | None:
    """Return which test a fork ran last."""
    os.set_blocking(told, False)  # a program that the fork left behind may hold the other end
    with open(told, "rb") as file:
        text = file.read() or b""
    return int.from_bytes(text[-4:]) if text else None


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
    with tempfile.TemporaryDirectory() as folder:  # of other runs, pytest removes the oldest
        here = f"--basetemp={folder}/tests"
        pytest.main([*options, *quiet, *chosen, here, *tests], plugins=[trial])
