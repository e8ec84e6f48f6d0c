"""Let programs of several kinds take part, and see which of them their certificates give away.

Usage: python benchmarks/agents.py [--each 16] [--people 500] [--pace 0.3] [--chromium PATH]

The bounds are those of the product, fixed before any agent of this bench ran. People are simulated
(benchmarks/agent_bench/people.py), programs take part for real: over HTTP or in a browser.
"""

import argparse
import asyncio
import random
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from agent_bench import browsers, scripts
from agent_bench.choices import fingerprint_nats, trained
from agent_bench.people import METHODS, person
from agent_bench.site import Site, served
from playwright.async_api import async_playwright
from sqlalchemy import select

from experiment.exclusion.integrity import flags
from experiment.integrity.certificate import Certificate, certify
from experiment.materials.read import item_from_row
from experiment.records import Item
from experiment.simulation.session import accuracy_of
from experiment.studies.load import load_study
from experiment.studies.published import read_published
from webapp.database.engine import reading
from webapp.database.models import Participant, Response, RunItem, Trial

SWITCHES = ["--no-sandbox", "--disable-gpu"]
SCRIPTS: Mapping[str, scripts.Script] = {
    "script, at once, claims 3.5 s": scripts.at_once_claiming_seconds,
    "script, at once, claims 1 ms": scripts.at_once_claiming_nothing,
    "script that waits": scripts.waiting,
    "script that knows the rules": scripts.knowing,
    "replayed person": scripts.replaying,
}
REPLAYED_TWICE = "replayed person, twice in the run"
MODEL = "browser, a model's choices"
MIMIC = "browser that mimics people"
_ONE_IN = 100


def send_scripts(site: Site, options: argparse.Namespace) -> dict[str, str]:
    """Let every script take part; return its kind by the reference of its session."""
    jobs = [(name, f"{name} {n}") for name in SCRIPTS for n in range(options.each)]
    jobs += [(REPLAYED_TWICE, f"twice {n // 2}") for n in range(options.each)]

    def one(job: tuple[str, str]) -> tuple[str, str]:
        name, seed = job
        script = SCRIPTS.get(name, scripts.replaying)
        rng = random.Random(f"{options.seed} {seed}")
        return scripts.take_part(site, script, rng, options.pace), name

    with ThreadPoolExecutor(options.scripts) as pool:
        return dict(pool.map(one, jobs))


def send_browsers(
    site: Site, options: argparse.Namespace, choose: browsers.Chooser
) -> dict[str, str]:
    """Let every program with a browser take part; return its kind likewise."""
    chance = random.Random(options.seed)
    either: browsers.Chooser = lambda texts: chance.randrange(len(texts))  # noqa: E731
    wanted = {
        "browser, scripted clicks": (browsers.click, either),
        "browser, scripted keys": (browsers.press, either),
        MODEL: (browsers.think_and_press, choose),
        MIMIC: (browsers.mimic, either),
    }
    found = asyncio.run(_browse(site, wanted, options))
    return {ref: name for name, refs in found.items() for ref in refs}


async def _browse(
    site: Site,
    wanted: Mapping[str, tuple[browsers.Act, browsers.Chooser]],
    options: argparse.Namespace,
) -> dict[str, list[str]]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=options.chromium, args=SWITCHES)
        found = await browsers.all_of(
            browser, site, wanted, options.each, options.pace, options.windows, options.seed
        )
        await browser.close()
    return found


def people(
    items: Sequence[Item], number: int, trials: int, seed: int
) -> dict[str, list[Certificate]]:
    """Return the certificates of simulated people by the way in which they answer."""
    found: dict[str, list[Certificate]] = {}
    for method in METHODS:
        for n in range(number):
            rng = random.Random(f"{seed} {method} {n}")
            shown = [rng.choice(items) for _ in range(trials)]
            lengths = [len(one.context) + len(one.good) + len(one.bad) for one in shown]
            found.setdefault(method, []).append(certify(person(lengths, method, rng)))
    return found


def score(certificate: Certificate) -> float:
    """Return the nats for a program, which order sessions as the score does."""
    return sum(nats for _, nats in certificate.signals)


def area(of_people: Sequence[float], of_programs: Sequence[float]) -> float:
    """Return the area under the ROC: how often a program's score is above a person's."""
    pairs = [(p > h) + (p == h) / 2 for p in of_programs for h in of_people]
    return sum(pairs) / len(pairs)


def bound(of_people: Sequence[float]) -> float:
    """Return the score that one in a hundred people exceeds."""
    ordered = sorted(of_people)
    return ordered[min(len(ordered) - 1, len(ordered) - len(ordered) // _ONE_IN - 1)]


def print_people(found: Mapping[str, Sequence[Certificate]]) -> None:
    """Print how many simulated people raise a flag, by how they answer."""
    print(f"{'simulated people':<38}{'n':>5}{'flagged':>9}{'by the score':>14}")
    for method, certificates in found.items():
        any_flag = sum(bool(flags(one)) for one in certificates) / len(certificates)
        scored = sum("agent_likelihood" in flags(one) for one in certificates) / len(certificates)
        print(f"{method:<38}{len(certificates):>5}{any_flag:>9.1%}{scored:>14.1%}")


def print_programs(
    found: Mapping[str, Sequence[Certificate]], of_people: Sequence[Certificate]
) -> None:
    """Print, of each kind, the area under the ROC and how many are found."""
    human = [score(one) for one in of_people]
    limit = bound(human)
    print(f"\n{'programs':<38}{'n':>5}{'area':>7}{'at 1 %':>8}{'flagged':>9}  flags")
    for name, certificates in found.items():
        of_kind = [score(one) for one in certificates]
        above = sum(one > limit for one in of_kind) / len(of_kind)
        raised = [flags(one) for one in certificates]
        names = sorted({flag for one in raised for flag in one})
        caught = sum(map(bool, raised)) / len(raised)
        print(
            f"{name:<38}{len(of_kind):>5}{area(human, of_kind):>7.3f}{above:>8.0%}{caught:>9.0%}"
            f"  {', '.join(f'{flag} {sum(flag in one for one in raised)}' for flag in names)}"
        )
    print(
        f"at 1 %: of the score, at the bound {limit:.2f} nats that one in a hundred people passes"
    )


def print_choices(
    site: Site,
    kinds: Mapping[str, str],
    items: Sequence[Item],
    choose: browsers.Chooser,
    options: argparse.Namespace,
) -> None:
    """Print how well a model's own choices are known by that model, given how hard items are."""
    model = {one.item_id: choose([one.good, one.alternative]) == 0 for one in items}
    easy = accuracy_of(read_published(load_study(options.study)))
    accuracy = {one.item_id: easy(one.construction, one.condition) for one in items}

    def nats(chosen: Mapping[str, bool]) -> float:
        return fingerprint_nats(
            list(chosen.values()), [model[i] for i in chosen], [accuracy[i] for i in chosen]
        )

    human = []
    for n in range(options.people):
        rng = random.Random(f"{options.seed} choices {n}")
        shown = rng.sample(items, min(options.trials, len(items)))
        human.append(nats({i.item_id: rng.random() < accuracy[i.item_id] for i in shown}))
    chosen = _chosen(site)
    agents = [nats(chosen[ref]) for ref, kind in kinds.items() if kind == MODEL]
    found = sum(one > bound(human) for one in agents) / len(agents)
    print(
        f"\nchoices alone, {MODEL}: area {area(human, agents):.3f}, {found:.0%} at 1 % of simulated"
        f" people (the model itself is known)"
    )


def _shown_items(site: Site) -> list[Item]:
    with reading(site.app.extensions["parallax"].sessions) as session:
        rows = session.scalars(select(RunItem.item).where(RunItem.run_id == site.run.id)).all()
    return [item_from_row(row) for row in rows]


def _chosen(site: Site) -> dict[str, dict[str, bool]]:
    """Return of each session which trials were answered with the good option."""
    rows = (
        select(Participant.ref, RunItem.item_id, Response.chosen_side == Trial.good_side)
        .join(Trial, Trial.participant_id == Participant.id)
        .join(RunItem, RunItem.id == Trial.run_item_id)
        .join(Response, Response.trial_id == Trial.id)
        .where(Participant.run_id == site.run.id)
    )
    found: dict[str, dict[str, bool]] = {}
    with reading(site.app.extensions["parallax"].sessions) as session:
        for ref, item_id, good in session.execute(rows):
            found.setdefault(ref, {})[item_id] = good
    return found


def main() -> None:
    """Run the bench and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--study", default="marvin_linzen_2018")
    parser.add_argument("--each", type=int, default=8, help="how many of each kind")
    parser.add_argument("--people", type=int, default=500, help="simulated people of each method")
    parser.add_argument("--pace", type=float, default=0.3, help="programs' times, of people's")
    parser.add_argument("--windows", type=int, default=8, help="browser windows at a time")
    parser.add_argument("--scripts", type=int, default=32, help="scripts at a time")
    parser.add_argument("--sentences", type=int, default=20_000, help="the model's training text")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--chromium", default="/usr/bin/chromium", help="the browser")
    options = parser.parse_args()
    study = load_study(options.study)
    options.trials = study.design.trials_per_list
    with tempfile.TemporaryDirectory() as folder:
        choose = trained(Path(folder), options.study, options.sentences)
        with served(Path(folder), options.study, options.seed) as (for_scripts, for_browsers):
            kinds = send_scripts(for_scripts, options)
            kinds |= send_browsers(for_browsers, options, choose)
            known = for_scripts.certificates() | for_browsers.certificates()
            found: dict[str, list[Certificate]] = {}
            for ref, kind in kinds.items():
                found.setdefault(kind, []).append(known[ref])
            items = _shown_items(for_browsers)
            human = people(items, options.people, options.trials, options.seed)
            print_people(human)
            print_programs(found, [one for group in human.values() for one in group])
            print_choices(for_browsers, kinds, items, choose, options)


if __name__ == "__main__":
    main()
