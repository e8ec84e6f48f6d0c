"""Mechanical Turk as a side of the campaign that puts databases back."""

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.retries.standard import ExponentialBackoff

from fault_injection.books import Booked, Side
from fault_injection.campaign import KINDS, MOST_WORKERS, unfilled
from fault_injection.environment import Environment, Worker, open_environment
from fault_injection.in_process import in_process
from fault_injection.operator import Operator
from fault_injection.restores import Restored
from webapp.database.models import Run
from webapp.recruiters.mturk.client import MturkClient, open_client

_BY_HAND = "from a colleague"
BEHAVIOURS = {"finish": 60, "give_back": 12, "vanish": 10, "forget": 10, "only_submit": 8}


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


class Operators(Restored):
    """An operator on Mechanical Turk whose database is put back."""

    def report(self) -> None:
        """Nothing: workers hand their work in themselves."""


@contextmanager
def opened(folder: Path) -> Iterator[tuple[Environment, MturkClient]]:
    """Yield an environment and its platform."""
    with open_environment(folder, in_process) as environment:
        # As in life, a call that only reads is repeated; here without the pauses.
        ExponentialBackoff.delay_amount = lambda *_: 0.0
        yield environment, open_client(environment.url, attempts=3)


@cache
def _turk(url: str) -> Any:  # noqa: ANN401
    return boto3.client(
        "mturk", endpoint_url=url, region_name="us-east-1", config=Config(proxies={}),
        aws_access_key_id="any", aws_secret_access_key="any",
    )  # fmt: skip


def pay_by_hand(
    environment: Environment,
    operator: Operators,
    person: Worker,
    amount_minor: int,
    number: int,
) -> str:
    """Pay a bonus, if the platform takes it, and return the reason that it has in the books."""
    token = f"{operator.run.ref} by hand {number}"
    with suppress(ClientError, BotoCoreError):
        _turk(environment.url).send_bonus(
            WorkerId=person.worker_id,
            AssignmentId=person.assignment,
            BonusAmount=f"0.{amount_minor:02}",
            Reason=f"{_BY_HAND} {token}",
            UniqueRequestToken=token,
        )
    return f"{_BY_HAND} {token}"


def books(
    environment: Environment, _operator: Operators, people: Sequence[Worker], by_hand: set[str]
) -> list[Booked]:
    """Return what the platform booked for the run's people."""
    found = environment.web.get("/control/payments").raise_for_status().json()["payments"]
    ours = {person.worker_id for person in people}
    return [
        Booked(
            each["worker_id"],
            each["amount_cents"],
            each["fee_cents"],
            each["reason"] if each["reason"] in by_hand else None,
        )
        for each in found
        if each["worker_id"] in ours
    ]


def offered(environment: Environment, run_ref: str) -> int:
    """Return how many places of a run the platform offers in all."""
    pages = _turk(environment.url).get_paginator("list_hits").paginate()
    return sum(
        hit["MaxAssignments"]
        for page in pages
        for hit in page["HITs"]
        if f"/run/{run_ref}<" in hit["Question"] or f"/run/{run_ref}?" in hit["Question"]
    )


def hand_in_later(people: Sequence[Worker], lost: set[str]) -> None:
    """Let whoever could not submit take up the offer; who is lost was offered nothing."""
    for worker in people:
        if worker.finished and not worker.submitted and worker.work not in lost:
            take_compensation(worker)
            worker.submitted = True


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


def take_compensation(worker: Worker) -> None:
    """Take the offer that is for this worker alone, and hand it in."""
    with worker:
        assert worker.accept("/compensation"), "the offer cannot be found"
        assert worker.submit("compensation")


SIDE = Side(
    recruiter="mturk", opened=opened, operator=Operators, faults=faults, work=work,
    hand_in_later=hand_in_later, offered=offered, books=books, pay_by_hand=pay_by_hand,
)  # fmt: skip
