"""Prolific as a side of the campaign that puts databases back."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx
from sqlalchemy import select

from experiment.payment.payment import PaymentState
from fault_injection.books import Booked, Side
from fault_injection.campaign import KINDS, MOST_WORKERS, unfilled
from fault_injection.in_process import in_process
from fault_injection.operator import NotYetDone, Operator
from fault_injection.prolific import Participant, ProlificEnvironment, open_prolific_environment
from fault_injection.restores import Restored
from webapp.database.engine import reading
from webapp.database.models import Hit, OutgoingReport, Payment, Run
from webapp.jobs.platforms import send_reports
from webapp.payments.compensate import build_compensation_entry, find_unsubmitted_assignment
from webapp.payments.ledger import Entry, is_claimed
from webapp.payments.non_idempotent_bonuses import settle_by_hand
from webapp.recruiters.prolific.client import ProlificClient
from webapp.recruiters.prolific.drafts import compute_mark
from webapp.recruiters.prolific.opening import open_prolific
from webapp.recruiters.prolific.settings import ProlificSettings
from webapp.recruitment.open_offers import compute_offer_token
from webapp.recruitment.reports import ReportState

HEADERS = {"Authorization": "Token any"}
BEHAVIOURS = {"finish": 58, "give_back": 12, "vanish": 10, "invent": 8, "late": 12}
PROLIFIC_KINDS = (*KINDS, "cut_off")
SURE_AFTER_H = 2  # by then the platform has paid what it will ever pay
REASON = "A mistake of the operator's, who meant somebody else and takes it back afterwards. " * 2


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

    def _compensate(self, ref: str) -> None:
        """Pay somebody whose time was over: by a bonus, on what they could not hand in."""
        amount_minor = self._study.reward_minor
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


class Operators(Restored, ProlificOperator):
    """An operator on Prolific whose database is put back."""


@contextmanager
def opened(folder: Path) -> Iterator[tuple[ProlificEnvironment, ProlificClient]]:
    """Yield an environment and its platform."""
    with open_prolific_environment(folder, in_process) as environment:
        settings = ProlificSettings(endpoint=environment.url)
        platform = open_prolific(settings, live=False, attempts=1, now=environment.clock)
        assert platform.currency == "USD"
        yield environment, platform


def pay_by_hand(
    environment: ProlificEnvironment,
    operator: Operators,
    person: Participant,
    amount_minor: int,
    _number: int,
) -> str | None:
    """Pay a bonus, and return the id of its set-up."""
    wanted = {
        "study_id": operator.study, "csv_bonuses": f"{person.submission},0.{amount_minor:02}"
    }  # fmt: skip
    call = partial(quietly, environment, "POST")
    made = call("/api/v1/submissions/bonus-payments/", HEADERS, wanted)
    if made is None:
        return None
    call(f"/api/v1/bulk-bonus-payments/{made['id']}/pay/", HEADERS)
    return made["id"]  # The answer to the order may have been lost on the way.


def books(
    environment: ProlificEnvironment,
    _operator: Operators,
    people: Sequence[Participant],
    by_hand: set[str],
) -> list[Booked]:
    """Return what the platform booked for the run's people."""
    found = environment.web.get("/control/payments").raise_for_status().json()["payments"]
    ours = {person.submission for person in people}
    return [
        Booked(
            each["submission"],
            each["amount_minor"],
            each["fee_minor"] + each["tax_minor"],
            each["setup"] if each["setup"] in by_hand else None,
        )
        for each in found
        if each["submission"] in ours
    ]


def offered(environment: ProlificEnvironment, run_ref: str) -> int:
    """Return how many places of a run the platform offers in all."""
    marks = {compute_mark(compute_offer_token(run_ref, number)) for number in range(1, 9)}
    read = partial(environment.web.get, headers=HEADERS)
    listed = read("/api/v1/studies/", params={"page_size": 1000}).raise_for_status().json()
    ours = [
        each["id"]
        for each in listed["results"]
        if any(mark in (each.get("internal_name") or "") for mark in marks)
    ]
    found = (read(f"/api/v1/studies/{each}/").raise_for_status().json() for each in ours)
    return sum(each["total_available_places"] for each in found)


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


SIDE = Side(
    recruiter="prolific",
    opened=opened,
    operator=Operators,
    faults=faults,
    work=lambda environment, run, operator, rng, _=0: work(environment, run, operator, rng),
    hand_in_later=lambda _people, _lost: None,
    offered=offered,
    books=books,
    pay_by_hand=pay_by_hand,
)
