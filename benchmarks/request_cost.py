"""Measure the server's processor time of an arrival, an answer and an ending, against a minimum.

Usage: python benchmarks/request_cost.py [--people 40] [--turns 3] [--earlier CHECKOUT]
       [--study NAME]

There is one server process, on SQLite. Three servers take turns: Parallax, commit a39565f in a
separate checkout (``earlier``), and a Flask endpoint on the same server that commits one row with
the same durability (``bare``). In each crowd, participants arrive one after the other, answer one
after the other, then all at once, and end.
The result is the processor time of the server's processes in milliseconds, which other programs on
the machine affect less than the elapsed time; it is the median of the turns.
"""

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

import psutil
from load_platforms.answer import answer, new_uuid
from load_platforms.browser import Browser
from load_platforms.platform import Site
from load_platforms.processes import used

from experiment.studies.load import load_study

_HERE = Path(__file__).resolve()
_FORM, _JSON = "application/x-www-form-urlencoded", "application/json"
_MARK = re.compile(rb'name="visit" value="(\w+)"')
_SESSION = re.compile(rb'id="session">(.*?)</script>', re.DOTALL)
# So many of a session's trials are answered one by one; all others at once with everybody's.
_ALONE = 16
_STUDY = "marvin_linzen_2018"
Costs = dict[str, float]


class Person:
    """Somebody with a connection of their own."""

    def __init__(self, number: int, site: Site) -> None:
        self.browser, self.rng = Browser(site.host, site.port), random.Random(number)
        self.home = f"/w{number}/"

    async def open_link(self, run: str) -> None:
        """Open the invitation."""
        self.consent = await self.browser.get(f"/run/{run}")

    async def accept(self, run: str) -> None:
        """Consent, which gives a place and its trials."""
        mark = _MARK.search(self.consent.content)
        form = b"decision=accept&visit=" + (mark[1] if mark else b"")
        self.home = (await self.browser.post(f"/run/{run}", form, _FORM, 303)).location

    async def open_page(self) -> None:
        """Open the session's page."""
        self.page = await self.browser.get(self.home)

    async def open_parts(self) -> None:
        """Fetch what the pages load."""
        await self.browser.get_parts(self.consent, self.page)

    async def answer(self, positions: Iterable[int]) -> None:
        """Answer these trials, one after the other."""
        for position in positions:
            side = self.rng.choice(("first", "second"))
            body = answer(position, new_uuid(self.rng), side)
            await self.browser.save(f"{self.home}answers", body, _JSON)

    async def end(self, form: bytes) -> None:
        """Answer the questions and see the last page."""
        await self.browser.get(self.home)
        await self.browser.post(f"{self.home}questionnaire", form, _FORM, 303)
        await self.browser.get(self.home)


def _spent_s(site: Site) -> float:
    """Return the processor seconds of the server, without what it does once a minute.

    Sessions are summarised by a process of its own, which would be counted with whatever request
    it falls upon.
    """
    with suppress(psutil.NoSuchProcess):
        server = psutil.Process(site.pid)
        apart = [each for each in server.children(recursive=True) if "summarise" in each.cmdline()]
        return used(site.pid).cpu_s - sum(used(each.pid).cpu_s for each in apart)
    return used(site.pid).cpu_s


async def one_by_one(people: Iterable[Person], do: Callable[[Person], Awaitable[None]]) -> None:
    for person in people:
        await do(person)


def _platform(what: str, study: str) -> Any:  # noqa: ANN401 - of whichever commit
    """Return Parallax, or the earlier commit as its own benchmark starts it."""
    name = "load_platforms.parallax" if what == "parallax" else "loading.own"
    return import_module(name).Parallax(study, "", 1)


async def measure_parallax(n: int, what: str, study: str) -> Costs:
    """Return what each kind of request costs Parallax."""
    platform = _platform(what, study)
    with tempfile.TemporaryDirectory(prefix="parallax-cost-") as folder:
        site = platform.start(Path(folder), n + 1)
        run, form = platform._run, platform._questionnaire
        try:
            first, *people = (Person(number, site) for number in range(n + 1))
            await arrive(site, run, [first])  # what is done once in a process is not counted
            await first.answer([1])
            costs = await arrive(site, run, people)
            costs |= await answering(site, people, trials_of(study))
            before = _spent_s(site)
            await asyncio.gather(*(each.end(form) for each in people))
            costs["ending, 3 requests"] = 1000 * (_spent_s(site) - before) / n
            for each in (first, *people):
                each.browser.close()
        finally:
            platform.stop()
    return costs


async def arrive(site: Site, run: str, people: list[Person]) -> Costs:
    """Return what each step of an arrival costs, one person after the other."""
    steps: Mapping[str, Callable[[Person], Awaitable[None]]] = {
        "link": lambda each: each.open_link(run),
        "consent": lambda each: each.accept(run),
        "page": lambda each: each.open_page(),
        "programs and styles": lambda each: each.open_parts(),
    }
    costs = {}
    for name, do in steps.items():
        before = _spent_s(site)
        await one_by_one(people, do)
        costs[name] = 1000 * (_spent_s(site) - before) / len(people)
    return costs


def trials_of(study: str) -> int:
    """Return how many trials a session has."""
    return load_study(study).design.trials_per_list or 1


async def answering(site: Site, people: list[Person], trials: int) -> Costs:
    """Return what an answer costs alone, and where everybody sends theirs at once."""
    before, n_alone = _spent_s(site), min(_ALONE, trials - 2)
    await one_by_one(people, lambda each: each.answer(range(2, n_alone + 2)))
    alone = 1000 * (_spent_s(site) - before) / len(people) / n_alone
    before = _spent_s(site)
    rest = [1, *range(n_alone + 2, trials + 1)]
    await asyncio.gather(*(each.answer(rest) for each in people))
    together = 1000 * (_spent_s(site) - before) / len(people) / len(rest)
    return {"answer, one by one": alone, "answer, all at once": together}


async def measure_bare(n: int, study: str) -> Costs:
    """Return what an answer costs the endpoint that does nothing else."""
    from load_platforms.bare import Bare

    platform = Bare(1)
    with tempfile.TemporaryDirectory(prefix="parallax-cost-") as folder:
        site = platform.start(Path(folder), n)
        try:
            people = [Person(number, site) for number in range(n)]
            await people[0].answer([0])
            costs = await answering(site, people, trials_of(study))
            for each in people:
                each.browser.close()
        finally:
            platform.stop()
    return costs


def measure(what: str, n: int, study: str, earlier: Path | None) -> Costs:
    """Return one crowd's costs, measured by a process of its own."""
    command = [sys.executable, str(_HERE), "--people", str(n), "--only", what]
    environment, cwd = dict(os.environ), None
    command += ["--study", study] if study != _STUDY else []
    if what == "earlier" and earlier is not None:
        cwd = earlier.resolve()
        environment["PYTHONPATH"] = f"{cwd}:{cwd / 'benchmarks'}"
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{what} could not be measured:\n{done.stderr}")
    costs: Costs = json.loads(done.stdout.splitlines()[-1])
    return costs


def shown(costs: Mapping[str, list[Costs]]) -> str:
    """Return the table: a line for each step, with the ratios of the medians."""
    middle = {
        what: {step: median(each[step] for each in found) for step in found[0]}
        for what, found in costs.items()
    }
    for each in middle.values():
        steps = ("link", "consent", "page", "programs and styles")
        if "link" in each:
            each["an arrival, all of these"] = sum(each[step] for step in steps)
    own = middle["parallax"]
    lines = ["ms of the server".ljust(28) + "".join(what.rjust(12) for what in middle)
             + "".join(f"{'/ ' + what:>12}" for what in middle if what != "parallax")]  # fmt: skip
    for step, cost in own.items():
        cells = [f"{each[step]:12.3f}" if step in each else " " * 12 for each in middle.values()]
        cells += [
            f"{cost / each[step]:12.2f}" if each.get(step) else " " * 12
            for what, each in middle.items()
            if what != "parallax"
        ]
        lines.append(f"{step:28}{''.join(cells)}".rstrip())
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--people", type=int, default=40)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--earlier", type=Path, help="a checkout of commit a39565f")
    parser.add_argument("--study", default=_STUDY, help="a built-in one")
    parser.add_argument("--only", choices=("parallax", "earlier", "bare"), help="one, as JSON")
    options = parser.parse_args()
    if options.only:
        n, study, what = options.people, options.study, options.only
        bare = what == "bare"
        costs_of = measure_bare(n, study) if bare else measure_parallax(n, what, study)
        print(json.dumps(asyncio.run(costs_of)))
        return
    names = ["parallax", *(["earlier"] if options.earlier else []), "bare"]
    costs: dict[str, list[Costs]] = {name: [] for name in names}
    for _ in range(options.turns):
        for name in names:
            costs[name].append(measure(name, options.people, options.study, options.earlier))
    print(shown(costs))


if __name__ == "__main__":
    main()
