"""Run programs of several kinds as participants, and report which of them certificates detect.

Usage: python benchmarks/agents.py [--each 8] [--people 500] [--pace 0.3] [--kinds mimic]

The thresholds are the product's, fixed before any agent of this benchmark ran. Human participants
are simulated (benchmarks/agent_bench/people.py); programs really take part, over HTTP or in a
browser. Each kind of program is judged among a hundred simulated humans, as if in the same run.
"""

import argparse
import asyncio
import random
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from agent_bench import browsers, scripts
from agent_bench.candidates import nats_of
from agent_bench.choices import Chooser, Scores, expected, highest, trained
from agent_bench.figures import Judged, area, bound, print_people, print_programs
from agent_bench.kept import keep
from agent_bench.norms import Norms
from agent_bench.people import METHODS, Shown, person, shown
from agent_bench.site import Site, served
from playwright.async_api import async_playwright
from sqlalchemy import select

from experiment.integrity.certificate import certify
from experiment.integrity.choices import model_evidence_nats
from experiment.integrity.observed import ObservedSession
from experiment.materials.item_rows import item_from_row
from experiment.records import Item
from experiment.responses.responders import accuracy_of
from experiment.studies.load import load_study
from experiment.studies.published import read_published
from webapp.database.engine import reading
from webapp.database.models import RunItem

sys.path.append(str(Path(__file__).parents[1]))
from tests.prerequisites import CHROMIUM

SWITCHES = ["--no-sandbox", "--disable-gpu"]
SCRIPTS: Mapping[str, scripts.Script] = {
    "script, at once, claims 3.5 s": scripts.at_once_claiming_seconds,
    "script, at once, claims 1 ms": scripts.at_once_claiming_nothing,
    "script that waits": scripts.waiting,
    "script that knows the rules": scripts.knowing,
    "replayed person": scripts.replaying,
}
REPLAYED_TWICE = "replayed person, twice in the run"
# Those whose choices are the model's, so that the model itself may know them.
BY_MODEL = (
    "browser, a model's choices",
    "mimic, a model's choices",
    "mimic that reads and drifts",
    "mimic that decides, then moves",
)
# Who comes to a run beside the programs, by how they answer.
CROWD = {"mouse": 60, "touch": 15, "keyboard": 23, "switch": 2}


def send_scripts(site: Site, options: argparse.Namespace) -> dict[str, str]:
    """Let every script take part; return its kind by the reference of its session."""
    jobs = [(name, f"{name} {n}") for name in SCRIPTS for n in range(options.each)]
    jobs += [(REPLAYED_TWICE, f"twice {n // 2}") for n in range(options.each)]
    jobs = [job for job in jobs if options.kinds in job[0]]

    def one(job: tuple[str, str]) -> tuple[str, str]:
        name, seed = job
        script = SCRIPTS.get(name, scripts.replaying)
        rng = random.Random(f"{options.seed} {seed}")
        return scripts.take_part(site, script, rng, options.pace), name

    with ThreadPoolExecutor(options.scripts) as pool:
        return dict(pool.map(one, jobs))


def send_browsers(
    site: Site, options: argparse.Namespace, scores: Scores, items: Sequence[Item]
) -> dict[str, str]:
    """Let every program with a browser take part; return its kind likewise."""
    chance = random.Random(options.seed)
    either: Chooser = lambda texts: chance.randrange(len(texts))  # noqa: E731
    models, right = highest(scores), expected({one.good for one in items}, chance)
    wanted = {
        "browser, scripted clicks": (browsers.click, either),
        "browser, scripted keys": (browsers.press, either),
        BY_MODEL[0]: (browsers.think_and_press, models),
        "mimic, choices at random": (browsers.mimic, either),
        BY_MODEL[1]: (browsers.mimic, models),
        "mimic, nearly always right": (browsers.mimic, right),
        BY_MODEL[2]: (browsers.read_and_mimic, models),
        BY_MODEL[3]: (browsers.decide_and_mimic, models),
    }
    wanted = {name: act for name, act in wanted.items() if options.kinds in name}
    found = asyncio.run(_browse(site, wanted, options))
    return {ref: name for name, refs in found.items() for ref in refs}


async def _browse(
    site: Site, wanted: Mapping[str, tuple[browsers.Act, Chooser]], options: argparse.Namespace
) -> dict[str, list[str]]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=options.chromium, args=SWITCHES)
        found = await browsers.all_of(
            browser, site, wanted, options.each, options.pace, options.windows, options.seed
        )
        await browser.close()
    return found


def people(
    items: Sequence[Shown], trials: int, numbers: Mapping[str, int], seed: str
) -> dict[str, list[ObservedSession]]:
    """Return so many simulated people by the way in which they answer."""
    found: dict[str, list[ObservedSession]] = {}
    for method, number in numbers.items():
        for n in range(number):
            rng = random.Random(f"{seed} {method} {n}")
            seen = rng.sample(items, min(trials, len(items)))
            found.setdefault(method, []).append(person(seen, method, rng))
    return found


def crowd_of(items: Sequence[Shown], trials: int, seed: int) -> list[ObservedSession]:
    """Return the simulated people whose run a session comes to."""
    groups = people(items, trials, CROWD, f"{seed} crowd").values()
    return [one for group in groups for one in group]


def among(crowd: Sequence[ObservedSession], sessions: Sequence[ObservedSession]) -> list[Judged]:
    """Return what is to be said of sessions that come to one run with a crowd."""
    norms = Norms.from_sessions([*crowd, *sessions])
    return [Judged(certify(one), nats_of(one, norms.without(one))) for one in sessions]


def print_choices(
    found: Mapping[str, Sequence[ObservedSession]],
    human: Sequence[ObservedSession],
    crowd: Sequence[ObservedSession],
    difference: Mapping[str, float],
) -> None:
    """Print how well a model's own choices are known by that model, given how hard items are.

    Args:
        found: The programs' sessions by kind.
        human: Simulated people.
        crowd: Those from whom it is known how hard items are.
        difference: The model's score of the good option less that of the other, by items.
    """
    norms = Norms.from_sessions(crowd)

    def nats(session: ObservedSession) -> float:
        answers = session.answers
        return model_evidence_nats(
            [bool(one.chose_good) for one in answers],
            [norms.accuracy(one) for one in answers],
            [difference[one.item] for one in answers],
        )

    of_people = [nats(one) for one in human]
    print("\nchoices alone, where the model itself is suspected")
    for kind in filter(found.__contains__, BY_MODEL):
        of_kind = [nats(one) for one in found[kind]]
        above = sum(one > bound(of_people) for one in of_kind) / len(of_kind)
        print(f"{kind:<38}{len(of_kind):>5}{area(of_people, of_kind):>7.3f}{above:>8.0%}")


def _items(site: Site) -> list[Item]:
    with reading(site.app.extensions["parallax"].sessions) as session:
        rows = session.scalars(select(RunItem.item).where(RunItem.run_id == site.run.id)).all()
    return [item_from_row(row) for row in rows]


def _print(
    found: Mapping[str, Sequence[ObservedSession]],
    items: Sequence[Item],
    scores: Scores,
    options: argparse.Namespace,
) -> None:
    study = load_study(options.study)
    easy, trials = accuracy_of(read_published(study)), study.design.trials_per_list
    seen = [shown(one, easy) for one in items]
    crowd = crowd_of(seen, trials, options.seed)
    human = people(seen, trials, dict.fromkeys(METHODS, options.people), f"{options.seed} people")
    norms = Norms.from_sessions(crowd)
    judged = {
        method: [Judged(certify(one), nats_of(one, norms)) for one in group]
        for method, group in human.items()
    }
    print_people(judged)
    print_programs(
        {kind: among(crowd, sessions) for kind, sessions in found.items()},
        [one for group in judged.values() for one in group],
    )
    apart = {one.item_id: scores([one.good, one.alternative]) for one in items}
    difference = {item: good - other for item, (good, other) in apart.items()}
    everybody = [one for group in human.values() for one in group]
    print_choices(found, everybody, crowd, difference)


def main() -> None:
    """Run the bench and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--study", default="marvin_linzen_2018")
    parser.add_argument("--each", type=int, default=8, help="how many of each kind")
    parser.add_argument("--people", type=int, default=500, help="simulated people of each method")
    parser.add_argument("--pace", type=float, default=0.3, help="programs' times, of people's")
    parser.add_argument("--kinds", default="", help="only those with this in their name")
    parser.add_argument("--windows", type=int, default=8, help="browser windows at a time")
    parser.add_argument("--scripts", type=int, default=32, help="scripts at a time")
    parser.add_argument("--sentences", type=int, default=20_000, help="the model's training text")
    parser.add_argument("--seed", type=int, default=2027)
    parser.add_argument("--chromium", default=CHROMIUM.find(), help="the browser")
    parser.add_argument("--keep", type=Path, help="a file that the programs' sessions go to")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scores = trained(Path(folder), options.study, options.sentences)
        with served(Path(folder), options.study, options.seed) as (for_scripts, for_browsers):
            items = _items(for_browsers)
            kinds = send_scripts(for_scripts, options)
            kinds |= send_browsers(for_browsers, options, scores, items)
            known = for_scripts.observed() | for_browsers.observed()
            found: dict[str, list[ObservedSession]] = {}
            for ref, kind in kinds.items():
                found.setdefault(kind, []).append(known[ref])
            if options.keep:
                keep(options.keep, found)
            _print(found, items, scores, options)


if __name__ == "__main__":
    main()
