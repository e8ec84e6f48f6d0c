"""Publish, work and pay on the Prolific stand-in under constant failures, and check all payments.

Usage: python benchmarks/faults_prolific.py [--runs 1000] [--seed 1] [--processes 2]

The setup is that of faults.py. Calls are refused as busy, fail with or without being carried out,
lose their answers or are cut off; bulk calls are accepted and never carried out; webhooks are lost,
duplicated and reordered; the clock jumps; the operator's process is killed before and after calls
and commits, including between the two steps of a bonus. Participants finish, return, disappear,
invent codes, or finish too late. A colleague approves submissions on the platform's own pages. The
researcher makes mistakes as in faults.py: repeated commands, wrong order, the wrong participant
rejected, wrong amounts and files. For bonuses that the platform never reports, a simulated person
looks at its pages and decides. The exit status is 1 if a participant was not paid exactly once, or
the platform's records, the ledger and the statement do not agree.
"""

import argparse
import logging
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import httpx
from fault_injection.environment import small_study
from fault_injection.mistakes import Mistakes
from fault_injection.operator import Death, NotYetDone, Operator
from fault_injection.prolific import Participant, ProlificEnvironment, open_prolific_environment
from faults import (
    KINDS,
    MOST_WORKERS,
    PLACES_PER_LIST,
    RUNS_PER_ENVIRONMENT,
    ended,
    paid_as_earned,
    places,
    report,
    unfilled,
)
from sqlalchemy import select

from experiment.payment.payment import PaymentState
from experiment.studies.load import load_study
from webapp.database.engine import reading
from webapp.database.models import Hit, OutgoingReport, Payment, Run
from webapp.jobs.platforms import send_reports
from webapp.payments.compensate import build_compensation_entry, find_unsubmitted_assignment
from webapp.payments.ledger import Entry, is_claimed
from webapp.payments.non_idempotent_bonuses import settle_by_hand
from webapp.recruiters.prolific.client import ProlificClient
from webapp.recruiters.prolific.opening import open_prolific
from webapp.recruiters.prolific.settings import ProlificSettings
from webapp.recruitment.reports import ReportState
from webapp.runs.launch import launch_run

BEHAVIOURS = {"finish": 58, "give_back": 12, "vanish": 10, "invent": 8, "late": 12}
PROLIFIC_KINDS = (*KINDS, "cut_off")
REWARD, BONUS = 20, 5
SURE_AFTER_H = 2  # by then the platform has paid what it will ever pay
REASON = "A mistake of the operator's, who meant somebody else and takes it back afterwards. " * 2
WRONG = (
    *("people paid less", "people paid more", "places lost", "findings left", "reports left"),
    "runs without end",
)
SHOWN = (
    *("runs", "workers", "calls that failed", "process deaths", "steps done again"),
    *("bonuses decided by hand", "mistakes made", "mistakes refused", "approved by others"),
    *("people who earned money", "people paid exactly once", "places", *WRONG),
)


def faults(probability: float, seed: int) -> dict[str, object]:
    """Return the stand-in's faults: each kind strikes with its share of the probability."""
    made: list[dict[str, object]] = [
        {"kind": kind, "probability": probability / len(PROLIFIC_KINDS)} for kind in PROLIFIC_KINDS
    ]
    made += [
        {"kind": "accepted_not_done", "operation": "pay-bonus-payments", "probability": 0.1},
        *(
            {"kind": f"webhook_{how}", "operation": "webhook", "probability": 0.2}
            for how in ("lost", "doubled", "reordered")
        ),
    ]
    return {"seed": seed, "faults": made}


class ProlificOperator(Operator):
    """An operator of a run on Prolific, who also decides what the platform never tells."""

    counts: Counter[str]
    rejects_with = (REASON, "OTHER")

    def publish(self) -> None:
        """Offer every open place."""
        super().publish()
        with reading(self._sessions) as session:
            self.study = session.scalars(
                select(Hit.platform_id).where(Hit.run_id == self.run.id)
            ).one()

    def report(self) -> None:
        """Let the server tell the platform of endings, until nothing waits."""
        self._until_done(self._report)

    def _pay(self, entries: Sequence[Entry], *, undo_rejections: bool = False) -> None:
        self._decide_doubtful()
        super()._pay(entries, undo_rejections=undo_rejections)

    def _mend(self) -> None:
        self._decide_doubtful()
        super()._mend()

    def _compensate(self, ref: str, amount_minor: int = 0) -> None:
        """Pay somebody whose time was over: by a bonus, on what they could not hand in."""
        amount_minor = amount_minor or self._study.reward_minor
        account = next(a for a in self.accounts() if a.participant.ref == ref)
        who = account.participant.platform_id or ""
        with reading(self._sessions) as session:
            assignment = find_unsubmitted_assignment(session, self.run, who)
        reason = "Your time was over."
        self._pay(
            [build_compensation_entry(account, who, amount_minor, reason, assignment=assignment)]
        )

    def _decide_doubtful(self) -> None:
        """Look at the platform's own pages, as a person would, once it is sure not to pay later."""
        doubtful = (PaymentState.UNKNOWN, PaymentState.ORDERED)
        with reading(self._sessions) as session:
            left = session.scalars(
                select(Payment).where(
                    Payment.run_id == self.run.id,
                    Payment.state.in_(doubtful),
                    Payment.ordered_at.is_not(None),
                )
            ).all()
        for payment in left:
            assert payment.ordered_at is not None
            waited = self.environment.clock() - payment.ordered_at
            # The clock may have gone back since a process took it in hand.
            in_hand = is_claimed(payment, self.environment.clock())
            if in_hand or waited.total_seconds() < SURE_AFTER_H * 3600:
                continue
            environment = self.environment
            assert isinstance(environment, ProlificEnvironment)
            if payment.amount_minor not in environment.bonuses_of(payment.assignment or ""):
                settle_by_hand(
                    self._sessions, self.run, payment.id, environment.clock, is_paid=False
                )
                self.counts["bonuses decided by hand"] += 1

    def _report(self) -> None:
        send_reports(self.environment.services)
        with reading(self._sessions) as session:
            waiting = session.scalars(
                select(OutgoingReport.id).where(
                    OutgoingReport.run_id == self.run.id,
                    OutgoingReport.state == ReportState.WAITING,
                )
            ).all()
        if waiting:
            raise NotYetDone


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
        run = launch_run(
            session, study, number, "prolific", now=environment.clock(), code_version="0"
        )
    death = Death(rng, options.deaths)
    operator = ProlificOperator(environment, run, platform, rng, death)
    operator.counts = counts = Counter[str]()
    environment.control("faults", faults(options.faults, number))
    operator.publish()
    people = work(environment, run, operator, rng)
    environment.clock.go_on(hours=2)  # nobody's time goes on any more
    operator.report()
    operator.poll()
    meddle(environment, operator, people, rng)
    mistakes = Mistakes(operator, rng, options.mistakes)
    mistakes.before_paying()
    operator.pay()
    mistakes.after_paying()
    operator.settle_the_rest()
    operator.pay()
    for finding in (left := operator.settle_the_rest()):
        print(f"run {number}: {finding}", file=sys.stderr)
    failed = environment.web.get("/control/faults").raise_for_status().json()["made"]
    environment.control("faults", {})
    earned = {person.ref: earnings(person, environment) for person in people}
    counts.update(paid_as_earned(environment.paid(), earned))
    counts.update(
        {
            "runs": 1,
            "workers": len(people),
            "calls that failed": sum(failed.get(kind, 0) for kind in PROLIFIC_KINDS),
            "process deaths": death.deaths,
            "steps done again": operator.retries,
            "mistakes made": mistakes.made,
            "mistakes refused": mistakes.refused,
            "findings left": len(left),
            "reports left": reports_left(environment, run),
            "places": places(environment, run),
            "places lost": unfilled(environment, run),
        }
    )
    return counts


def earnings(person: Participant, environment: ProlificEnvironment) -> list[tuple[str, int]]:
    """Return what somebody is owed: whoever's time was over gets the reward as a bonus."""
    if not person.finished:
        return []
    in_time = ("reward", REWARD) in environment.paid().get(person.ref, [])
    return sorted([("bonus", BONUS), ("reward" if in_time else "bonus", REWARD)])


def work(
    environment: ProlificEnvironment, run: Run, operator: ProlificOperator, rng: random.Random
) -> list[Participant]:
    """Send participants until the run is full, and return them all."""
    people = list[Participant]()
    for _ in range(MOST_WORKERS):  # then places are left, and counted as lost
        if not unfilled(environment, run):
            break
        person = Participant(environment, run.ref)
        with person:
            if not person.take(operator.study):
                # Who vanished still holds what is left: their time must pass.
                environment.clock.go_on(minutes=31)
                operator.report()
                operator.poll()
                operator.publish()
                continue
            people.append(person)
            behave(person, operator, rng)
        if rng.random() < 0.3:
            environment.deliver_webhooks()
    return people


def behave(person: Participant, operator: ProlificOperator, rng: random.Random) -> None:
    """Do what participants do with a place they took."""
    [behaviour] = rng.choices(list(BEHAVIOURS), list(BEHAVIOURS.values()))
    if behaviour == "invent":
        person.enter("CC2026")
        return
    if not person.consent():
        # Whoever vanished or gave back holds the place until somebody asks the platform.
        person.give_back()
        operator.environment.clock.go_on(minutes=31)
        operator.poll()
        return
    if behaviour == "vanish":
        return
    if behaviour == "give_back":
        person.give_back()
        return
    person.answer()
    if behaviour == "late":
        operator.environment.clock.go_on(minutes=40)
    elif rng.random() < 0.5:
        operator.report()


def meddle(
    environment: ProlificEnvironment,
    operator: ProlificOperator,
    people: list[Participant],
    rng: random.Random,
) -> None:
    """Let a colleague approve on the platform's own pages."""
    headers = {"Authorization": "Token any"}
    for person in people:
        if not person.finished or rng.random() > 0.1:
            continue
        where = f"/api/v1/submissions/{person.submission}/"
        submission = quietly(environment, "GET", where, headers)
        if submission is None or submission.get("status") != "AWAITING REVIEW":
            continue
        if quietly(environment, "POST", f"{where}transition/", headers, {"action": "APPROVE"}):
            operator.counts["approved by others"] += 1


def quietly(
    environment: ProlificEnvironment,
    method: str,
    where: str,
    headers: dict[str, str],
    body: dict[str, str] | None = None,
) -> dict[str, str] | None:
    """Return the answer to a call of somebody else's; None where the platform fails them."""
    try:
        answer = environment.web.request(method, where, json=body, headers=headers)
        return dict(answer.json()) if answer.is_success else None
    except (httpx.HTTPError, ValueError):
        return None


def reports_left(environment: ProlificEnvironment, run: Run) -> int:
    """Return how many endings the platform was neither told of nor refused to hear."""
    settled = (ReportState.DONE, ReportState.REFUSED)
    with reading(environment.services.sessions) as session:
        left = select(OutgoingReport.id).where(
            OutgoingReport.run_id == run.id, OutgoingReport.state.not_in(settled)
        )
        return len(session.scalars(left).all())


def environments(
    one_run: Callable[..., Counter[str]], options: argparse.Namespace, first: int
) -> Counter[str]:
    """Return the counts of the runs from that number on that share a stand-in."""
    logging.disable(logging.WARNING)  # what fails on purpose is counted, not told one by one
    counts = Counter[str]()
    with (
        tempfile.TemporaryDirectory() as name,
        open_prolific_environment(Path(name)) as environment,
    ):
        settings = ProlificSettings(endpoint=environment.url)
        platform = open_prolific(settings, live=False, attempts=1, now=environment.clock)
        assert platform.currency == "USD"
        for number in range(first, min(first + RUNS_PER_ENVIRONMENT, options.runs)):
            rng = random.Random(f"{options.seed} {number}")
            counts.update(
                ended(number, partial(one_run, environment, platform, number, rng, options))
            )
    return counts


if __name__ == "__main__":
    report(__doc__, partial(environments, one_run), SHOWN, WRONG)
