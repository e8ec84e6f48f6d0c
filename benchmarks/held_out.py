"""Test the score on browsers not used in its development, and on participants of all styles.

Usage: python benchmarks/held_out.py [--each 4] [--people 200] [--pace 1] [--figure FILE.png]

The browsers (agent_bench/held_out.py) were written from the participants' page, before their author
had read how a session is judged. They were started as their authors would start them: browsers that
imitate humans deny that a program controls them. Human participants and their devices are simulated
(agent_bench/ways.py). Each session is judged among a hundred simulated humans.
"""

import argparse
import asyncio
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agent_bench import held_out, ways
from agent_bench.choices import expected
from agent_bench.figures import Judged
from agent_bench.people import Shown, shown
from agent_bench.roc import GROUPS, draw, show
from agent_bench.site import Site, served
from agents import SWITCHES, _items, among, crowd_of, people
from playwright.async_api import Browser, async_playwright
from playwright.async_api import Error as PlaywrightError

from experiment.integrity.observed import ObservedSession
from experiment.records import Item
from experiment.responses.responders import accuracy_of
from experiment.studies.load import load_study
from experiment.studies.published import read_published

sys.path.append(str(Path(__file__).parents[1]))
from tests.prerequisites import CHROMIUM

DENIES = "--disable-blink-features=AutomationControlled"
ALL = held_out.SCRIPTED | held_out.MIMICS
PATIENCE_MS = 180_000


async def _one(
    browser: Browser, site: Site, name: str, taker: held_out.Taker, room: asyncio.Semaphore
) -> str | None:
    """Return the session's reference; None where the browser gave up, as on a starved machine."""
    async with room:
        context = await browser.new_context(viewport={"width": 1280, "height": 800})
        context.set_default_timeout(PATIENCE_MS)
        taker.page = await context.new_page()
        try:
            home = await held_out.take_part(taker, site.link, ALL[name])
        except PlaywrightError as error:
            print(f"{name} gave up: {str(error).splitlines()[0]}")
            return None
        finally:
            await context.close()
        return site.ref_of(home)


async def browse(
    site: Site, items: Sequence[Item], times: Sequence[Sequence[float]], options: argparse.Namespace
) -> dict[str, list[str]]:
    """Let so many of each kind take part, some at a time; return their references by kind."""
    room, found = asyncio.Semaphore(options.windows), {}
    good = {one.good for one in items}
    async with async_playwright() as playwright:
        for group, switches in (("scripted", SWITCHES), ("mimics", [*SWITCHES, DENIES])):
            if not (names := [name for name in GROUPS[group] if name in options.kinds]):
                continue
            browser = await playwright.chromium.launch(
                executable_path=options.chromium, args=switches
            )
            tasks = {}
            for number in range(options.each):
                for name in names:
                    rng = random.Random(f"{options.seed} {name} {number}")
                    taker = held_out.Taker(
                        None, rng, expected(good, rng), options.pace, times[number]
                    )  # type: ignore[arg-type]
                    tasks[name, number] = _one(browser, site, name, taker, room)
            refs = await asyncio.gather(*tasks.values())
            for (name, _), ref in zip(tasks, refs, strict=True):
                if ref is not None:
                    found.setdefault(name, []).append(ref)
            await browser.close()
    return found


def of_people(
    items: Sequence[Shown], trials: int, crowd: Sequence[ObservedSession], number: int, seed: str
) -> dict[str, list[Judged]]:
    """Return what is to be said of so many simulated people of each way of answering."""
    found = {}
    for way in ways.WAYS:
        sessions = []
        for n in range(number):
            rng = random.Random(f"{seed} {way} {n}")
            sessions.append(ways.session(way, rng.sample(list(items), trials), rng))
        found[way] = [among(crowd, [one])[0] for one in sessions]
    return found


def main() -> None:
    """Run the browsers, judge them and the people, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--study", default="marvin_linzen_2018")
    parser.add_argument("--each", type=int, default=4, help="how many of each kind")
    parser.add_argument("--kinds", default="", help="only those with this in their name")
    parser.add_argument("--people", type=int, default=200, help="of each way of answering")
    parser.add_argument("--pace", type=float, default=1.0, help="programs' times, of their own")
    parser.add_argument("--windows", type=int, default=14, help="browser windows at a time")
    parser.add_argument("--seed", type=int, default=6029)
    parser.add_argument("--chromium", default=CHROMIUM.find(), help="the browser")
    parser.add_argument("--figure", type=Path, help="where the ROC is drawn")
    options = parser.parse_args()
    options.kinds = {name for name in ALL if options.kinds in name}
    study = load_study(options.study)
    easy, trials = accuracy_of(read_published(study)), study.design.trials_per_list
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder), options.study, options.seed) as (_, site),
    ):
        items = _items(site)
        seen = [shown(one, easy) for one in items]
        replayed = people(seen, trials, {"keyboard": options.each}, f"{options.seed} replayed")
        times = [[one.rt_ms or 0.0 for one in who.answers] for who in replayed["keyboard"]]
        refs = asyncio.run(browse(site, items, times, options))
        known = site.observed()
    crowd = crowd_of(seen, trials, options.seed)
    sessions = {name: [known[ref] for ref in of if ref in known] for name, of in refs.items()}
    programs = {name: [among(crowd, [one])[0] for one in of] for name, of in sessions.items()}
    denying = {
        name: [among(crowd, [replace(one, automated=False)])[0] for one in of]
        for name, of in sessions.items()
    }
    human = of_people(seen, trials, crowd, options.people, f"{options.seed} people")
    show(programs, denying, human)
    if options.figure:
        draw(options.figure, programs, denying, human)


if __name__ == "__main__":
    main()
