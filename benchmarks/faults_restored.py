"""Publish, work and pay while calls fail and databases are restored, and check all payments.

Usage: python benchmarks/faults_restored.py [--runs 300] [--mturk 1] [--seed 1] [--processes 2]

The platform is the Prolific stand-in, or the Mechanical Turk one with --mturk 1. Calls are
throttled, fail with or without being carried out, lose their replies or are slow; the operator's
process is killed before or after calls and commits; the clock jumps, sometimes backwards;
participants return, disappear, forget to submit, invent codes or are late. Unfinished work is
repeated until everything is done. In addition, the database is restored from earlier copies at any
step: by `parallax db restore`, as a copied file, with the file `ledger` next to it, or as a second
copy of the installation with the same token; work then continues on either copy in turn. Some runs
return to a copy from the middle of the work, which lacks participants who arrived later. After some
of these the clock is wrong by up to 26 hours. Between any two calls and commits a colleague may pay
a bonus by hand, of the due amount or of another. The operator reconciles when the gate (which
blocks payments) requires it, and makes the decisions that messages ask for: a bonus of the due
amount counts as the due one, any other is extra; unknown participants whom reconciling names are
paid the reward. Then the platform's records are compared with the earnings, the colleague's
payments apart.

The exit status is 1 if Parallax overpaid a participant; a bonus was paid in addition to a visible
one by hand without a decision; a participant was underpaid or is lost without being named; places
were offered twice; or ledger, statement and platform do not agree: `parallax statement` must list
each payment in the platform's records, with its fee, and no other.
"""

import argparse
import logging
import random
import sys
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from fault_injection import restored_mturk, restored_prolific
from fault_injection.books import Colleague, Side, differences, is_paid_beside, judged
from fault_injection.campaign import (
    BONUS,
    REWARD,
    RUNS_PER_ENVIRONMENT,
    ended,
    report,
    unfilled,
)
from fault_injection.environment import Environment, small_study
from fault_injection.restores import CLOCK, WAYS, Meddling, Restored
from sqlalchemy import update

from experiment.studies.load import load_study
from webapp.database.models import Run
from webapp.recruiters.platform import Platform
from webapp.runs.launch import launch_run

PLACES = (1, 1, 1, 2)  # of each of two lists
BY_HAND = (BONUS, BONUS, REWARD, 7)
WRONG = (
    *("people we paid more", "people with less", "places offered twice", "places lost"),
    "paid beside, undecided",
    *("lost and not named", "lines not in the books", "findings left", "runs without end"),
)
SHOWN = (
    *("runs", "workers", "calls that failed", "process deaths", "steps done again", *WAYS),
    *(CLOCK, "stopped at the gate", "paid by hand", "decided by a person"),
    *("bonuses decided by hand", "people who earned money", "paid by us, as earned"),
    *("paid by hand instead", "people lost with a copy", "paid when a person decided", *WRONG),
)


def one_run(
    side: Side,
    environment: Environment,
    platform: Platform,
    number: int,
    rng: random.Random,
    options: argparse.Namespace,
) -> Counter[str]:
    """Return the counts of one run from its launch to its clean end."""
    with environment.services.sessions.begin() as session:
        study = load_study(str(small_study(environment.folder, rng.choice(PLACES))))
        run = launch_run(
            session, study, number, side.recruiter, now=environment.clock(), code_version="0"
        )
    death = Meddling(rng, options.deaths)
    operator: Any = side.operator(environment, run, platform, rng, death)
    operator.counts = counts = Counter[str]()
    environment.control("faults", side.faults(options.faults, number))
    operator.keep()
    operator.restores = 0.3
    operator.publish()
    operator.states.clear()  # From here on an older one lacks people, who cannot be paid by it.
    operator.publish()
    environment.control("faults", {})
    counts["places offered twice"] = side.offered(environment, run.ref) - unfilled(environment, run)
    environment.control("faults", side.faults(options.faults, number))
    operator.restores = 0.0
    operator.keeps = rng.random() < options.lost
    people = side.work(environment, run, operator, rng)
    operator.keeps = False
    if operator.states:
        operator.report()
        operator.lose_people(people)
        operator.settle_the_rest()
        people += side.work(environment, run, operator, rng, len(people))
    environment.clock.go_on(hours=2)
    operator.report()
    operator.poll()
    operator.keep()
    operator.restores = options.restores
    colleague = Colleague(side, environment, operator, rng, BY_HAND, people)
    death.colleague, death.meddles = colleague.pay, options.by_hand
    operator.pay()
    operator.settle_the_rest()
    death.meddles = 0.0
    side.hand_in_later(people, operator.lost)
    death.meddles = options.by_hand
    operator.pay()
    death.meddles = operator.restores = 0.0
    operator.settle_the_rest()
    operator.pay()
    for finding in (left := operator.settle_the_rest()):
        print(f"run {number}: {finding}", file=sys.stderr)
    failed = environment.web.get("/control/faults").raise_for_status().json()["made"]
    environment.control("faults", {})
    counts.update(compared(side, environment, operator, people, colleague, number))
    with environment.services.sessions.begin() as session:
        # What is over is not asked for again when a later run is put back.
        session.execute(update(Run).where(Run.id == run.id).values(closed_at=environment.clock()))
    counts.update(
        {
            "runs": 1,
            "workers": len(people),
            "calls that failed": sum(failed.values()),
            "process deaths": death.deaths,
            "steps done again": operator.retries,
            "findings left": len(left),
            "places lost": unfilled(environment, run),
        }
    )
    return counts


def compared(
    side: Side,
    environment: Environment,
    operator: Restored,
    people: list[Any],
    colleague: Colleague,
    number: int,
) -> Counter[str]:
    """Compare the platform's books with what everybody earned, and with the statement."""
    books = side.books(environment, operator, people, colleague.paid)
    there = [person for person in people if person.work not in operator.lost]
    counts = judged(books, there, REWARD + BONUS)
    seen = colleague.paid - operator.death.too_late
    for person in people:
        if person.work not in operator.beside:
            counts["paid beside, undecided"] += is_paid_beside(books, person.key, seen, BONUS)
        if person.work in operator.lost:
            ours = sum(b.amount_minor for b in books if b.who == person.key and not b.by_hand)
            counts["people we paid more"] += ours > REWARD + BONUS
            counts["paid when a person decided"] += ours >= REWARD
            counts["lost and not named"] += operator.waits(person.work)
    for (amount, fee), more in differences(books, operator.stated()).items():
        print(f"run {number}: {amount} with {fee} stands {more:+} times too often", file=sys.stderr)
        counts["lines not in the books"] += abs(more)
    return counts


def environments(options: argparse.Namespace, first: int) -> Counter[str]:
    """Return the counts of the runs from that number on that share a stand-in."""
    logging.disable(logging.WARNING)  # what fails on purpose is counted, not told one by one
    side = restored_mturk.SIDE if options.mturk else restored_prolific.SIDE
    counts = Counter[str]()
    with (
        tempfile.TemporaryDirectory() as name,
        side.opened(Path(name)) as (environment, platform),
    ):
        for number in range(first, min(first + RUNS_PER_ENVIRONMENT, options.runs)):
            rng = random.Random(f"{options.seed} {number}")
            run = partial(one_run, side, environment, platform, number, rng, options)
            counts.update(ended(number, run))
    return counts


if __name__ == "__main__":
    report(
        __doc__,
        environments,
        SHOWN,
        WRONG,
        runs=300,
        restores=(0.04, "the share of steps before which an older database is put back"),
        by_hand=(0.003, "at each point of a process"),
        lost=(0.2, "the share of runs that go back to a copy from the middle of the work"),
        mturk=(0, "1 for Mechanical Turk in place of Prolific"),
    )
