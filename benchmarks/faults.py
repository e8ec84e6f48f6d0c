"""Publish, work and pay on the MTurk stand-in under constant failures; check payments and losses.

Usage: python benchmarks/faults.py [--runs 1000] [--seed 1] [--processes 2]

Each run is published on a stand-in that boto3 calls over HTTP. Its workers finish, return the HIT,
disappear, forget to submit, or submit without having worked. Calls to the platform are throttled,
fail with or without being carried out, lose their replies or are slow; answers are cut off; the
operator's process is killed before or after calls and commits; the clock jumps, sometimes
backwards, sometimes beyond the day after which the platform forgets tokens. The researcher makes
mistakes, too: commands are repeated, in the wrong order, or have wrong amounts, participants and
files. Unfinished work is repeated until everything is done. Then the stand-in's records are
compared with all earnings. The exit status is 1 if a participant was not paid exactly once, a HIT
belongs to no run, or a place was lost.
"""

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.retries.standard import ExponentialBackoff
from fault_injection.environment import Environment, Worker, open_environment, small_study
from fault_injection.mistakes import Mistakes
from fault_injection.operator import Death, NeverDone, Operator
from sqlalchemy import func, select
from tqdm import tqdm

from experiment.studies.load import load_study
from webapp.database.engine import reading
from webapp.database.models import Hit, Place, Run
from webapp.recruiters.mturk.client import MturkClient, open_client
from webapp.recruitment.terms import count_unfilled_places
from webapp.runs.launch import launch_run

RUNS_PER_ENVIRONMENT = 10
PLACES_PER_LIST = (1, 1, 1, 1, 2, 6)  # the last needs more than one HIT
BEHAVIOURS = {"finish": 60, "give_back": 12, "vanish": 10, "forget": 10, "only_submit": 8}
KINDS = ("throttled", "server_error", "server_error_after", "request_lost", "reply_lost")
MOST_WORKERS = 200
_NOT_ASKED = ("runs", "races", "processes", "kept")
REWARD, BONUS = 20, 5  # as the study of the environment says
WRONG = (
    *("people paid less", "people paid more", "HITs orphaned", "places lost", "findings left"),
    "runs without end",
)
SHOWN = (
    *("runs", "workers", "calls that failed", "process deaths", "steps done again"),
    *("answers cut off", "mistakes made", "mistakes refused"),
    *("people who earned money", "people paid exactly once", "places", "HITs", *WRONG),
)


def faults(probability: float, seed: int) -> dict[str, object]:
    """Return the marketplace's faults: each kind strikes with its share of the probability."""
    made: list[dict[str, object]] = [
        {"kind": kind, "probability": probability / len(KINDS)} for kind in KINDS
    ]
    made += [
        {"kind": "slow", "probability": probability / 10, "seconds": 0.01},
        {"kind": "id_reused", "operation": "accept", "probability": 0.5},
    ]
    return {"seed": seed, "faults": made}


def one_run(
    environment: Environment,
    platform: MturkClient,
    number: int,
    rng: random.Random,
    options: argparse.Namespace,
) -> Counter[str]:
    """Return the counts of one run from its launch to its clean end."""
    with environment.services.sessions.begin() as session:
        study = load_study(str(small_study(environment.folder, rng.choice(PLACES_PER_LIST))))
        run = launch_run(session, study, number, "mturk", now=environment.clock(), code_version="0")
    death = Death(rng, options.deaths)
    operator = Operator(environment, run, platform, rng, death)
    environment.control("faults", faults(options.faults, number))
    operator.publish()
    workers = work(environment, run, operator, rng)
    environment.clock.go_on(hours=2)  # nobody's time goes on any more
    mistakes = Mistakes(operator, rng, options.mistakes)
    operator.errs = mistakes.compensates_too_little
    mistakes.before_paying()
    operator.pay()
    mistakes.after_paying()
    operator.settle_the_rest()
    earned = {worker.worker_id: earnings(worker) for worker in workers}
    for worker in workers:
        if worker.finished and not worker.submitted:
            take_compensation(worker)
    operator.settle_the_rest()
    operator.pay()
    for finding in (left := operator.settle_the_rest()):
        print(f"run {number}: {finding}", file=sys.stderr)
    failed = environment.web.get("/control/faults").raise_for_status().json()["made"]
    environment.control("faults", {})
    counts = judged(environment, run, earned)
    counts.update(
        {
            "runs": 1,
            "workers": len(workers),
            "calls that failed": sum(failed.get(kind, 0) for kind in KINDS),
            "process deaths": death.deaths,
            "steps done again": operator.retries,
            "findings left": len(left),
            "mistakes made": mistakes.made,
            "mistakes refused": mistakes.refused,
        }
    )
    return counts


def earnings(worker: Worker) -> list[tuple[str, int]]:
    """Return what somebody is owed, kind and amount: whoever could not submit is owed the same."""
    return [("bonus", BONUS), ("reward", REWARD)] if worker.finished else []


def work(
    environment: Environment, run: Run, operator: Operator, rng: random.Random, known: int = 0
) -> list[Worker]:
    """Send workers until the run is full, beside those who came already, and return them all."""
    workers = list[Worker]()
    for _ in range(MOST_WORKERS):  # then places are left, and counted as lost
        if not unfilled(environment, run):
            break
        worker = Worker(environment, run.ref, f"A{run.ref.upper()}X{known + len(workers)}")
        with worker:
            if not worker.accept():
                # Who vanished still holds what is left: their time must pass.
                environment.clock.go_on(minutes=31)
                operator.poll()
                operator.publish()
                continue
            workers.append(worker)
            behave(worker, operator, rng)
    return workers


def behave(worker: Worker, operator: Operator, rng: random.Random) -> None:
    """Do what workers do with a HIT they took."""
    [behaviour] = rng.choices(list(BEHAVIOURS), list(BEHAVIOURS.values()))
    if behaviour == "only_submit":
        worker.submit("nonsense")
        return
    if not worker.consent():
        # Whoever vanished or gave back holds the place until somebody asks the platform.
        worker.give_back()
        operator.environment.clock.go_on(minutes=31)
        operator.poll()
        return
    if rng.random() < 0.3:
        operator.poll()
    if behaviour == "vanish":
        return
    if behaviour == "give_back":
        worker.give_back()
        # Who gave it back may take it again, under another assignment.
        if rng.random() < 0.5 or not worker.accept() or not worker.consent():
            return
    if worker.answer() and behaviour != "forget":
        worker.submit()


def unfilled(environment: Environment, run: Run) -> int:
    with reading(environment.services.sessions) as session:
        return count_unfilled_places(session, run)


def take_compensation(worker: Worker) -> None:
    """Take the offer that is for this worker alone, and hand it in."""
    with worker:
        assert worker.accept("/compensation"), "the offer cannot be found"
        assert worker.submit("compensation")


def judged(
    environment: Environment, run: Run, earned: dict[str, list[tuple[str, int]]]
) -> Counter[str]:
    """Compare what everybody earned with what the marketplace's books say they got."""
    counts = paid_as_earned(environment.paid(), earned)
    counts["places"] = places(environment, run)
    counts["places lost"] = unfilled(environment, run)
    return counts


def paid_as_earned(
    paid: Mapping[str, list[tuple[str, int]]], earned: Mapping[str, list[tuple[str, int]]]
) -> Counter[str]:
    """Count who got what they earned, who less and who more, by the platform's books."""
    counts = Counter[str]()
    for worker_id, owed in earned.items():
        got = sorted(paid.get(worker_id, []))
        counts["people who earned money"] += bool(owed)
        counts["people paid exactly once"] += bool(owed) and got == owed
        counts["people paid less"] += sum_of(got) < sum_of(owed)
        counts["people paid more"] += sum_of(got) > sum_of(owed)
    return counts


def sum_of(paid: list[tuple[str, int]]) -> int:
    return sum(amount_minor for _, amount_minor in paid)


def places(environment: Environment, run: Run) -> int:
    with reading(environment.services.sessions) as session:
        counted = select(func.count(Place.id)).where(Place.run_id == run.id)
        return session.execute(counted).scalar_one()


def orphans(environment: Environment) -> Counter[str]:
    """Count the marketplace's HITs, and those of no row or of a row that has another."""
    client = boto3.client(
        "mturk", endpoint_url=environment.url, region_name="us-east-1", config=Config(proxies={}),
        aws_access_key_id="any", aws_secret_access_key="any",
    )  # fmt: skip
    pages = client.get_paginator("list_hits").paginate()
    there = Counter(hit["HITId"] for page in pages for hit in page["HITs"])
    with reading(environment.services.sessions) as session:
        ours = set(session.scalars(select(Hit.platform_id)))
    return Counter({"HITs": there.total(), "HITs orphaned": len(set(there) ^ ours)})


class CutOff:
    """Cuts answers of the platform off in the middle, now and then."""

    def __init__(self, rng: random.Random, probability: float) -> None:
        self._rng, self._probability, self.times = rng, probability, 0

    def __call__(self, response_dict: dict[str, Any], **_: object) -> None:
        """Cut one answer off, perhaps."""
        body = response_dict["body"]
        if body and self._rng.random() < self._probability:
            self.times += 1
            response_dict["body"] = body[: len(body) // 2]


def ended(number: int, one_run: Callable[[], Counter[str]]) -> Counter[str]:
    """Return the counts of a run; one that does not come to its end is told and counted."""
    try:
        return one_run()
    except NeverDone as error:
        print(f"run {number}: {error}", file=sys.stderr, flush=True)
        return Counter({"runs": 1, "runs without end": 1})


def one_environment(options: argparse.Namespace, first: int) -> Counter[str]:
    """Return the counts of the runs from that number on that share a marketplace."""
    counts = Counter[str]()
    with tempfile.TemporaryDirectory() as name, open_environment(Path(name)) as environment:
        # As in life, a call that only reads is repeated; here without the pauses.
        ExponentialBackoff.delay_amount = lambda *_: 0.0
        platform = open_client(environment.url, attempts=3)
        cut = CutOff(random.Random(f"{options.seed} {first} cut"), options.faults / len(KINDS))
        for client in (platform._repeating, platform._once):
            client.meta.events.register("before-parse.mturk.*", cut)
        for number in range(first, min(first + RUNS_PER_ENVIRONMENT, options.runs)):
            rng = random.Random(f"{options.seed} {number}")
            counts.update(
                ended(number, partial(one_run, environment, platform, number, rng, options))
            )
        counts.update(orphans(environment))
        counts["answers cut off"] = cut.times
    return counts


def campaign(
    options: argparse.Namespace, one_environment: Callable[[argparse.Namespace, int], Counter[str]]
) -> Counter[str]:
    """Return the counts of every run together, so many of them in each environment.

    An interrupt ends it early, with the counts of what was done. With ``--kept FILE`` each batch is
    a line of the file, and one that stands there already is not run again.
    """
    return campaign_in_batches(
        options, one_environment, range(0, options.runs, RUNS_PER_ENVIRONMENT)
    )


def campaign_in_batches(
    options: argparse.Namespace,
    one_batch: Callable[[argparse.Namespace, int], Counter[str]],
    all_firsts: Sequence[int],
) -> Counter[str]:
    """Return the counts of every batch together; each is known by the number of its first run."""
    asked = {name: value for name, value in vars(options).items() if name not in _NOT_ASKED}
    kept = _kept(options.kept, asked)
    firsts = [first for first in all_firsts if first not in kept]
    counts = sum((kept[first] for first in all_firsts if first in kept), Counter[str]())
    with ProcessPoolExecutor(options.processes) as pool:
        batches = pool.map(partial(one_batch, options), firsts)
        done = zip(firsts, batches, strict=True)
        try:
            for first, batch in tqdm(done, total=len(firsts), unit="batch"):
                counts.update(batch)
                if options.kept:
                    with options.kept.open("a", encoding="utf-8") as file:
                        file.write(json.dumps([asked, first, batch]) + "\n")
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
    return counts


def _kept(file: Path | None, asked: dict[str, object]) -> dict[int, Counter[str]]:
    """Return the counts of the batches of this campaign that a file holds."""
    if file is None or not file.exists():
        return {}
    lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return {first: Counter(batch) for of, first, batch in lines if of == asked}


def report(
    description: str | None,
    one_environment: Callable[[argparse.Namespace, int], Counter[str]],
    shown: Sequence[str],
    wrong: Sequence[str],
    runs: int = 1000,
    **shares: tuple[float, str],
) -> None:
    """Run a campaign as the command line says, print its counts, and end with 1 if any is wrong."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--runs", type=int, default=runs)
    for name, (default, words) in shares.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=default, help=words)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", type=float, default=0.15, help="the share of calls that fail")
    parser.add_argument("--deaths", type=float, default=0.03, help="at each point of a process")
    parser.add_argument("--mistakes", type=float, default=0.3, help="at each occasion")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--kept", type=Path, help="where batches are kept, to go on with later")
    counts = campaign(parser.parse_args(), one_environment)
    for name in shown:
        print(f"{name:<26}{counts[name]:>8,}")
    sys.exit(any(counts[name] for name in wrong))


if __name__ == "__main__":
    report(__doc__, one_environment, SHOWN, WRONG)
