"""Put older databases back, pay by hand and go on with copies, and count who was paid.

Usage: python benchmarks/faults_restored.py [--runs 300] [--seed 1] [--processes 2]

The frame is that of faults_prolific.py: calls fail, the process dies, the clock jumps, people are
late. On top of it the database is put back from earlier copies at any step from the offer of the
places on: as `parallax db restore` leaves it, as a copied file, with the file `ledger` beside it,
or as a second copy of the installation with the same token, of which now one and now the other is
gone on with. After some of these the clock is wrong by up to 26 hours. Between any two calls and
commits a colleague pays a bonus by hand, of the same amount as is due or of another. The operator
reconciles where the gate asks for it, and decides what the messages ask a person to decide: a
bonus of the due amount is the one that was due, any other is paid beside it. Then the books are
compared with what was earned, the colleague's payments apart. Ends with exit status 1 if we paid
somebody more, somebody has less, places were offered twice, or ledger, statement and platform do
not agree.
"""

import argparse
import random
import sys
from collections import Counter
from dataclasses import dataclass, field
from functools import partial

from fault_injection.environment import small_study
from fault_injection.prolific import Participant, ProlificEnvironment
from fault_injection.restores import CLOCK, WAYS, Meddling, Restored
from faults import PLACES_PER_LIST, report, unfilled
from faults_prolific import (
    BONUS,
    PROLIFIC_KINDS,
    REWARD,
    ProlificOperator,
    environments,
    faults,
    quietly,
    work,
)
from sqlalchemy import update

from experiment.studies.load import load_study
from webapp.database.models import Run
from webapp.recruiters.prolific.client import ProlificClient
from webapp.recruiters.prolific.drafts import mark
from webapp.recruitment.lost_offers import offer_token
from webapp.runs.launch import launch

BY_HAND = (BONUS, BONUS, REWARD, 7)
HEADERS = {"Authorization": "Token any"}
WRONG = (
    *("people we paid more", "people with less", "places offered twice", "places lost"),
    *("findings left", "runs without end"),
)
SHOWN = (
    *("runs", "workers", "calls that failed", "process deaths", "steps done again", *WAYS),
    *(
        CLOCK,
        "stopped at the gate",
        "paid by hand",
        "decided by a person",
        "bonuses decided by hand",
    ),
    *("people who earned money", "paid by us, as earned", "paid by hand instead", *WRONG),
)


class Operators(Restored, ProlificOperator):
    """An operator on Prolific whose database is put back."""


@dataclass
class Colleague:
    """Somebody who pays by hand on the platform's own pages, without telling anybody.

    Attributes:
        setups: What they paid.
    """

    environment: ProlificEnvironment
    rng: random.Random
    people: list[Participant] = field(default_factory=list)
    study: str = ""
    setups: set[str] = field(default_factory=set)

    def pay(self) -> None:
        """Pay a bonus to somebody who finished."""
        finished = [person for person in self.people if person.finished]
        if not finished:
            return
        who, amount = self.rng.choice(finished).submission, self.rng.choice(BY_HAND)
        wanted = {"study_id": self.study, "csv_bonuses": f"{who},0.{amount:02}"}
        call = partial(quietly, self.environment, "POST")
        made = call("/api/v1/submissions/bonus-payments/", HEADERS, wanted)
        if made and call(f"/api/v1/bulk-bonus-payments/{made['id']}/pay/", HEADERS) is not None:
            pass
        if made:  # The answer to the order may have been lost on the way.
            self.setups.add(made["id"])


def one_run(
    environment: ProlificEnvironment,
    platform: ProlificClient,
    number: int,
    rng: random.Random,
    options: argparse.Namespace,
) -> Counter[str]:
    """Return the counts of one run from its launch to its clean end."""
    with environment.services.sessions.begin() as session:
        study = load_study(str(small_study(environment.folder, rng.choice(PLACES_PER_LIST))))
        run = launch(session, study, number, "prolific", now=environment.clock(), code_version="0")
    death = Meddling(rng, options.deaths)
    operator = Operators(environment, run, platform, rng, death)
    operator.counts = counts = Counter[str]()
    environment.control("faults", faults(options.faults, number))
    operator.keep()
    operator.restores = 0.3
    operator.publish()
    operator.states.clear()  # From here on an older one lacks people, who cannot be paid by it.
    operator.publish()
    environment.control("faults", {})
    counts["places offered twice"] = offered(environment, run.ref) - unfilled(environment, run)
    environment.control("faults", faults(options.faults, number))
    people = work(environment, run, operator, rng)
    environment.clock.go_on(hours=2)
    operator.report()
    operator.poll()
    operator.keep()
    operator.restores = options.restores
    colleague = Colleague(environment, rng, people, operator.study)
    death.colleague, death.meddles = colleague.pay, options.by_hand
    operator.pay()
    operator.settle_the_rest()
    operator.pay()
    death.meddles = operator.restores = 0.0
    operator.settle_the_rest()
    operator.pay()
    for finding in (left := operator.settle_the_rest()):
        print(f"run {number}: {finding}", file=sys.stderr)
    failed = environment.web.get("/control/faults").raise_for_status().json()["made"]
    environment.control("faults", {})
    counts.update(judged(environment, operator, people, colleague.setups))
    with environment.services.sessions.begin() as session:
        # What is over is not asked for again when a later run is put back.
        session.execute(update(Run).where(Run.id == run.id).values(closed_at=environment.clock()))
    counts.update(
        {
            "runs": 1,
            "workers": len(people),
            "calls that failed": sum(failed.get(kind, 0) for kind in PROLIFIC_KINDS),
            "process deaths": death.deaths,
            "steps done again": operator.retries,
            "findings left": len(left),
            "places lost": unfilled(environment, run),
        }
    )
    return counts


def judged(
    environment: ProlificEnvironment,
    operator: Operators,
    people: list[Participant],
    by_hand: set[str],
) -> Counter[str]:
    """Compare what everybody earned with the books, our payments and the colleague's apart."""
    books = environment.web.get("/control/payments").raise_for_status().json()["payments"]
    counts = Counter[str]()
    for person in people:
        mine = [each for each in books if each["submission"] == person.submission]
        owed = REWARD + BONUS if person.finished else 0
        theirs = sorted(each["amount_minor"] for each in mine if each["setup"] in by_hand)
        ours = sum(each["amount_minor"] for each in mine if each["setup"] not in by_hand)
        instead = owed - ours
        counts["people who earned money"] += bool(owed)
        counts["paid by us, as earned"] += bool(owed) and not instead
        counts["paid by hand"] += len(theirs)
        counts["people we paid more"] += instead < 0
        # Less is right where what lacks was paid by hand in the same amounts.
        lacks = instead > 0
        is_theirs = instead in sums(theirs)
        counts["paid by hand instead"] += lacks and is_theirs
        counts["people with less"] += lacks and not is_theirs
    return counts


def sums(amounts: list[int]) -> set[int]:
    """Return what any of these amounts make together."""
    found = {0}
    for amount in amounts:
        found |= {each + amount for each in found}
    return found


def offered(environment: ProlificEnvironment, run_ref: str) -> int:
    """Return how many places of a run the platform offers in all."""
    marks = {mark(offer_token(run_ref, number)) for number in range(1, 9)}
    read = partial(environment.web.get, headers=HEADERS)
    listed = read("/api/v1/studies/", params={"page_size": 1000}).raise_for_status().json()
    ours = [
        each["id"]
        for each in listed["results"]
        if any(mark in (each.get("internal_name") or "") for mark in marks)
    ]
    found = (read(f"/api/v1/studies/{each}/").raise_for_status().json() for each in ours)
    return sum(each["total_available_places"] for each in found)


if __name__ == "__main__":
    report(
        __doc__,
        partial(environments, one_run),
        SHOWN,
        WRONG,
        runs=300,
        restores=(0.04, "the share of steps before which an older database is put back"),
        by_hand=(0.003, "at each point of a process"),
    )
