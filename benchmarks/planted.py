"""A run with ten problem participants, for the pictures of the researcher pages.

Participants arrive over HTTP under a simulated clock; a platform's reports are written to its
tables.
"""

import random
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from agent_bench.visit import Clock, Visit
from flask import Flask

from experiment.payment.payment import PaymentKind, PaymentState
from experiment.studies.load import load_study
from experiment.studies.study import Study
from webapp import create_app
from webapp.database.models import (
    Assignment,
    Hit,
    Participant,
    Payment,
    Recruitment,
    Run,
    RunItem,
    Trial,
)
from webapp.recruiters.statuses import AssignmentStatus
from webapp.runs.exclude import store_verdicts
from webapp.runs.launch import launch_run
from webapp.users.passwords import hash_password
from webapp.users.roles import Role
from webapp.users.users import add_user

STUDY = "marvin_linzen_2018"
LOOKER = "looker"
REWARD_MINOR = 150
BEFORE = timedelta(hours=20)
EVERY = timedelta(minutes=4)


class PlantedRun:
    """The run and everybody who comes to it.

    Args:
        app: The installation, under the bench's clock.
        run: The run's reference.
        clock: That clock.
        rng: What everything is drawn from.
    """

    def __init__(self, app: Flask, run: str, clock: Clock, rng: random.Random) -> None:
        self._app, self._run, self._clock, self._rng = app, run, clock, rng
        self._sessions = app.extensions["parallax"].sessions

    def arrive(self) -> Visit:
        """Let somebody agree, four minutes after the one before began."""
        self._clock.time += EVERY
        client = self._app.test_client()
        home = client.post(f"/run/{self._run}", data={"decision": "accept"}).location
        self._clock.wait(self._rng.uniform(20_000, 60_000))
        with self._sessions() as session:
            who = session.query(Participant).order_by(Participant.id.desc()).first()
            trials = session.query(Trial).filter_by(participant_id=who.id).order_by(Trial.position)
            sides = [trial.good_side for trial in trials]
        return Visit(client, home, self._clock, self._rng, sides, [90] * len(sides))

    def careful(self, visit: Visit, wrong: int = 0) -> Callable[[int], str]:
        """Return how somebody chooses who errs in one of ten, and in so many catch trials."""
        catch = self._catch_trials(visit)
        missed = set(catch[:wrong])

        def choose(place: int) -> str:
            right = visit.sides[place]
            errs = place in missed or (place not in catch and self._rng.random() < 0.1)
            return ("second" if right == "first" else "first") if errs else right

        return choose

    def ordinary(self) -> Visit:
        """Let somebody take part as most do."""
        visit = self.arrive()
        visit.device()
        visit.answer(self.careful(visit))
        visit.finish()
        return visit

    def plant(self, status: str = AssignmentStatus.SUBMITTED, **payment: str) -> str:
        """Give the latest participant work at the platform, and a line of the ledger.

        Returns:
            Their reference.
        """
        with self._sessions.begin() as session:
            run = session.query(Run).one()
            hit = session.query(Hit).one()
            who = session.query(Participant).order_by(Participant.id.desc()).first()
            work, worker = (f"{kind}{secrets.token_hex(8).upper()}" for kind in ("3", "A"))
            who.platform_id = worker
            row = Assignment(
                run_id=run.id, hit_id=hit.id, platform_id=work, status=status,
                participant_id=who.id, worker_id=worker, submit_to="", receipt="",
                accepted_at=who.arrived_at, submitted_at=self._clock.time,
            )  # fmt: skip
            session.add(row)
            if payment:
                line = {"kind": PaymentKind.REWARD, "reason": "", "answer": "", **payment}
                session.add(
                    Payment(
                        run_id=run.id,
                        participant_id=who.id,
                        worker_id=worker,
                        assignment=work,
                        currency=run.currency,
                        token=secrets.token_hex(16),
                        made_at=self._clock.time,
                        called_at=self._clock.time,
                        amount_minor=REWARD_MINOR,
                        **line,
                    )
                )
            return who.ref

    def _catch_trials(self, visit: Visit) -> list[int]:
        with self._sessions() as session:
            who = session.query(Participant).order_by(Participant.id.desc()).first()
            trials = session.query(Trial).filter_by(participant_id=who.id).order_by(Trial.position)
            kinds = {row.id: row.kind for row in session.query(RunItem)}
            return [n for n, trial in enumerate(trials) if kinds[trial.run_item_id] == "catch"]


def bot(run: PlantedRun) -> str:
    """A program: tells of no device, answers at once, by chance."""
    visit = run.arrive()
    visit.answer(lambda _: visit.rng.choice(("first", "second")), blunt=True)
    visit.finish()
    return run.plant()


def straight_liner(run: PlantedRun) -> str:
    """Chooses the first option throughout."""
    visit = run.arrive()
    visit.device()
    visit.answer(lambda _: "first")
    visit.finish()
    return run.plant()


def double_device(run: PlantedRun) -> str:
    """Begins on one device and goes on at another."""
    visit = run.arrive()
    visit.device()
    visit.answer(run.careful(visit), upto=visit.within(20))
    visit.device("two", "Chrome")
    visit.answer(run.careful(visit), first=visit.within(20))
    visit.finish()
    return run.plant()


def slow_network(run: PlantedRun) -> str:
    """Every answer waits for ten seconds and more before it is stored."""
    visit = run.arrive()
    visit.device()
    visit.answer(run.careful(visit), slow_ms=14_000)
    visit.finish()
    return run.plant()


def stuck_payment(run: PlantedRun) -> str:
    """Their reward was sent to the platform, and nobody heard the reply."""
    run.ordinary()
    return run.plant(state=PaymentState.UNKNOWN, answer="no answer came within 60 s")


def wrong_rejection(run: PlantedRun) -> str:
    """Finished with every catch trial right, and was rejected."""
    run.ordinary()
    return run.plant(
        AssignmentStatus.REJECTED,
        kind=PaymentKind.REJECTION,
        state=PaymentState.DONE,
        reason="You answered carelessly.",
    )


def withdrawn(run: PlantedRun) -> str:
    """Stops in the middle, and leaves the answers."""
    visit = run.arrive()
    visit.device()
    visit.answer(run.careful(visit), upto=visit.within(30))
    visit.withdraw()
    return run.plant(AssignmentStatus.RETURNED)


def duplicate(run: PlantedRun) -> str:
    """Comes a second time and sends the measurements of the first session once more."""
    first = run.arrive()
    first.device()
    times = first.answer(run.careful(first))
    first.finish()
    run.plant()
    again = run.arrive()
    again.device()
    again.answer(run.careful(again), times=times)
    again.finish()
    return run.plant()


def late(run: PlantedRun) -> str:
    """Goes away for hours in the middle, comes back and finishes."""
    visit = run.arrive()
    visit.device()
    visit.answer(run.careful(visit), upto=visit.within(40))
    visit.clock.wait(3 * 60 * 60 * 1000)
    visit.client.get(visit.home)
    visit.answer(run.careful(visit), first=visit.within(40))
    visit.finish()
    return run.plant()


def at_the_border(run: PlantedRun) -> str:
    """Misses two catch trials, where one may be missed."""
    visit = run.arrive()
    visit.device()
    visit.answer(run.careful(visit, wrong=2))
    visit.finish()
    return run.plant()


PLANTED = (
    bot, straight_liner, double_device, slow_network, stuck_payment, wrong_rejection, withdrawn,
    duplicate, late, at_the_border,
)  # fmt: skip


def _with_room(name: str, others: int) -> Study:
    """Return a study that has a place for everybody; one of them comes twice."""
    study = load_study(name)
    design, coming = study.design, others + len(PLANTED) + 1
    # Whole tens, over which the sides are balanced.
    enough = 10 * -(-coming // design.lists // 10)
    places = max(design.participants_per_list, enough)
    more = design.model_copy(update={"participants_per_list": places})
    return study.model_copy(update={"design": more})


def plant(
    instance: Path, others: int, seed: int, now: datetime, study: str = STUDY
) -> tuple[str, str, dict[str, str]]:
    """Make the installation, the run and everybody.

    Returns:
        The run's reference, the viewer's password, and who is what, by the name of the problem.
    """
    rng, clock = random.Random(seed), Clock(now - BEFORE)
    app = create_app(instance, now=clock)
    sessions, password = app.extensions["parallax"].sessions, secrets.token_urlsafe(12)
    with sessions.begin() as session:
        run = launch_run(
            session, _with_room(study, others), seed, "direct", now=clock(), code_version="0"
        )
        session.add(Recruitment(run_id=run.id, endpoint="planted", published_at=clock()))
        token = secrets.token_hex(8)
        session.add(
            Hit(
                run_id=run.id,
                token=token,
                purpose="recruitment",
                places=others + len(PLANTED),
                platform_id=token.upper(),
                posted_at=clock(),
            )
        )
        add_user(session, LOOKER, Role.VIEWER, hash_password(password), by="bench", now=clock())
        ref = run.ref
    planted, found = PlantedRun(app, ref, clock, rng), dict[str, str]()
    coming: list[Callable[[PlantedRun], str] | None] = [*PLANTED, *[None] * others]
    rng.shuffle(coming)
    for who in coming:
        if who is None:
            planted.ordinary()
            planted.plant()
        else:
            found[who.__name__] = who(planted)
    with sessions.begin() as session:
        store_verdicts(session, session.query(Run).one(), clock())
    app.extensions["parallax"].engine.dispose()
    return ref, password, found
