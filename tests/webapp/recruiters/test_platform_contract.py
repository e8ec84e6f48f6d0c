"""What holds on every paying platform: Mechanical Turk's stand-in, and a late, careless one.

The second answers before it does anything, pays again whatever it is told twice, and lists badly.
"""

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import delete, event, select

from experiment.payment.bonuses import bonuses_by_rule
from experiment.payment.payment import Caps, PaymentError, PaymentKind
from experiment.studies.load import STUDIES_FOLDER, load_study
from experiment.studies.study import Study
from marketplace.mturk import create_marketplace
from marketplace.serving import serve_in_thread
from tests.patience import PATIENCE_S
from tests.webapp.recruiters.late_platform import (
    CATEGORY,
    REWARD,
    LatePlatform,
    LateRecruiter,
    lost,
)
from tests.webapp.restoring import copied_with_ledger
from webapp.database.engine import Sessions, reading
from webapp.database.models import Assignment, Hit, Participant, Payment, Place, Recruitment, Run
from webapp.payments.accounts import load_accounts
from webapp.payments.bonuses import build_bonus_entries
from webapp.payments.compensate import build_compensation_entry, find_unsubmitted_assignment
from webapp.payments.ledger import load_payments
from webapp.payments.non_idempotent_bonuses import settle_by_hand
from webapp.payments.pay import pay_entries
from webapp.payments.reconciliation.reconcile import find_discrepancies, fix_discrepancies
from webapp.payments.reconciliation.snapshot import PaymentSnapshot, take_snapshot
from webapp.payments.reconciliation.statement import Statement
from webapp.payments.rewards import build_review_entry, build_reward_entries, refuse_rejection
from webapp.recruiters.mturk.client import open_client
from webapp.recruiters.statuses import AssignmentStatus
from webapp.recruitment.poll import poll_run
from webapp.recruitment.publish import carry_out_plan, draft_plan
from webapp.recruitment.published import load_recruitment_hits
from webapp.runs.launch import launch_run

pytestmark = pytest.mark.one_database

LINK = "http://127.0.0.1:1/run/x"
MONEY = {"mturk": ("USD", "0.20", "0.05", 20, 5), "late": ("JPY", "150", "30", REWARD, 30)}
REASON = "Every answer was the same one, on every trial."


class ProcessDied(BaseException):
    """The process is gone: nothing of it runs any more."""


@dataclass
class Death:
    """Ends the process at the n-th point at which it could end; 0 for never."""

    at: int = 0
    points: int = 0

    def may_come(self, *_: object) -> None:
        self.points += 1
        if self.points == self.at:
            self.at = 0
            raise ProcessDied


class Mortal:
    """A platform after whose every call the process may end.

    Ending before one leaves what ending after the call or the transaction before it leaves.
    """

    def __init__(self, platform: Any, death: Death) -> None:
        self._platform, self._death = platform, death

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._platform, name)
        if not callable(found):
            return found

        def call(*arguments: object, **named: object) -> object:
            answer = found(*arguments, **named)
            answer = iter(list(answer)) if hasattr(answer, "__next__") else answer
            self._death.may_come()
            return answer

        return call


@dataclass
class Stage:
    """A published run, the platform that pays its people, and the platform's own books."""

    kind: str
    sessions: Sessions
    run: Run
    study: Study
    platform: Any
    clock: Any
    tokens: Any
    hand_in: Callable[[str], str]
    paid: Callable[[str], list[tuple[str, int]]]
    lose: Callable[[str, str], None]
    death: Death = field(default_factory=Death)

    @property
    def caps(self) -> Caps:
        return Caps(10_000, 10_000_000, self.study.currency)

    @property
    def due(self) -> list[tuple[str, int]]:
        return [("reward", MONEY[self.kind][3]), ("bonus", MONEY[self.kind][4])]

    def finish(self, name: str, state: str = "finished") -> None:
        """Let somebody do the study here."""
        with self.sessions.begin() as session:
            session.add(
                Participant(
                    run_id=self.run.id,
                    ref=f"ref{name.lower()}",
                    platform_id=name,
                    state=state,
                    arrived_at=self.clock(),
                    consented_at=self.clock(),
                    finished_at=self.clock(),
                )
            )

    def poll(self) -> None:
        poll_run(self.sessions, self.platform, self.run.ref, self.clock())

    def pay(self) -> None:
        """Pay whatever is owed and can be paid, as the commands do."""
        for entries in (self._rewards, self._bonuses):
            self.poll()
            pay_entries(self.sessions, self.platform, self.run, entries(), self.caps, self.clock)

    def _owed(self) -> list:
        with reading(self.sessions) as session:
            return load_accounts(session, self.run)

    def _rewards(self) -> list:
        return build_reward_entries(self._owed(), self.study.reward_minor)

    def _bonuses(self) -> list:
        owed = self._owed()
        return build_bonus_entries(
            owed, bonuses_by_rule(self.study.payment, [a.bonus_candidate for a in owed], "run")
        )[0]

    def look(self) -> PaymentSnapshot:
        self.poll()
        return take_snapshot(self.sessions, self.platform, self.run, self.tokens, self.clock())

    def settle(self, hours: int = 8) -> list[Statement]:
        """Pay and mend, hour by hour, until nothing is left; return everybody's statement."""
        for _ in range(hours):
            self.clock.go_on(hours=1)
            self.pay()
            snapshot = self.look()
            if not find_discrepancies(snapshot):
                return list(snapshot.statements)
            fix_discrepancies(
                self.sessions, self.platform, self.run, self.study, LINK, snapshot, self.clock
            )
        raise AssertionError(find_discrepancies(self.look()))

    def ledger(self) -> list[Payment]:
        with reading(self.sessions) as session:
            return list(load_payments(session, self.run))


def study_of(kind: str, folder) -> Study:
    currency, reward, bonus, *_ = MONEY[kind]
    made = folder / kind / "minimal"
    shutil.copytree(STUDIES_FOLDER / "minimal", made)
    toml = (made / "study.toml").read_text(encoding="utf-8").replace('"0.20"', f'"{reward}"')
    toml = toml.replace("duration_minutes", "auto_approve_days = 30\nduration_minutes")
    money = f'[payment]\ncurrency = "{currency}"\nbonus = "everyone"\nbonus_amount = "{bonus}"\n'
    (made / "study.toml").write_text(f"{toml}\n{money}", encoding="utf-8")
    return load_study(str(made))


@pytest.fixture
def marketplace(tmp_path, clock) -> Iterator[str]:
    app = create_marketplace(tmp_path / "marketplace", now=clock)
    with serve_in_thread(app) as url:
        yield url
    app.extensions["marketplace"].engine.dispose()


@pytest.fixture
def mturk(marketplace):
    """Return the client, and what workers and the books do on the marketplace."""
    json = {"Accept": "application/json"}

    def hand_in(name: str) -> str:
        with httpx.Client(
            base_url=marketplace, trust_env=False, timeout=PATIENCE_S, headers=json
        ) as worker:
            worker.post("/signin", data={"worker_id": name, "country": "US"})
            [group, *_] = worker.get("/projects").json()["groups"]
            there = worker.post(f"/projects/{group['group_id']}/tasks/accept").headers["location"]
            id_ = worker.get(there).json()["assignment_id"]
            form = {"assignmentId": id_, "receipt": "x"}
            assert worker.post("/mturk/externalSubmit", data=form).status_code == 200
            return id_

    def paid(name: str) -> list[tuple[str, int]]:
        address = f"{marketplace}/control/payments"
        payments = httpx.get(address, trust_env=False, timeout=PATIENCE_S).json()["payments"]
        return [(p["kind"], p["amount_cents"]) for p in payments if p["worker_id"] == name]

    def lose(operation: str, when: str) -> None:
        name = {"approve": "ApproveAssignment", "bonus": "SendBonus"}[operation]
        kind = "request_lost" if when == "before" else "reply_lost"
        fault = {"kind": kind, "operation": name, "count": 1}
        address = f"{marketplace}/control/faults"
        httpx.post(address, json={"faults": [fault]}, trust_env=False, timeout=PATIENCE_S)

    return open_client(marketplace, attempts=1), hand_in, paid, lose


@pytest.fixture
def late(clock):
    platform = LatePlatform(clock, random.Random(1))
    LateRecruiter.platform = platform

    def hand_in(name: str) -> str:
        id_ = platform.take(name)
        platform.become(id_, AssignmentStatus.SUBMITTED)
        return id_

    def lose(operation: str, when: str) -> None:
        platform.fail = lost({"bonus": "pay_bonus"}.get(operation, operation), when)

    return platform, hand_in, platform.paid, lose


@pytest.fixture
def open_stage(sessions, clock, tmp_path, app):
    """Return a function that publishes a run on a platform."""

    def open_(kind: str, made: tuple) -> Stage:
        platform, hand_in, paid, lose = made
        study, death = study_of(kind, tmp_path), Death()
        recruiter = "mturk" if kind == "mturk" else LateRecruiter.name
        with sessions.begin() as session:
            run = launch_run(session, study, 1, recruiter, now=clock(), code_version="0")
        tokens = app.extensions["parallax"].tokens
        mortal: Any = Mortal(platform, death)
        plan = draft_plan(sessions, mortal, run.ref, LINK, clock())
        assert sum(places for _, places in carry_out_plan(sessions, mortal, plan, clock)) == 8
        event.listen(sessions, "after_commit", death.may_come)
        return Stage(kind, sessions, run, study, mortal, clock, tokens, hand_in, paid, lose, death)

    return open_


@pytest.fixture(params=["mturk", "late"])
def stage(request, open_stage) -> Stage:
    return open_stage(request.param, request.getfixturevalue(request.param))


def agreed(stage: Stage, statements: list[Statement]) -> bool:
    owed = sum(amount for _, amount in stage.due)
    return all((s.owed_minor, s.ledger_minor, s.platform_minor) == (owed,) * 3 for s in statements)


def test_the_statement_the_ledger_and_the_platform_agree_to_the_smallest_unit(stage):
    for name in ("AANN", "ABEA"):
        stage.finish(name)
        stage.hand_in(name)
    statements = stage.settle()
    assert len(statements) == 2
    assert agreed(stage, statements)
    assert stage.paid("AANN") == stage.paid("ABEA") == stage.due
    assert {line.currency for line in stage.ledger()} == {stage.study.currency}
    stage.clock.go_on(hours=30)
    stage.pay()
    assert stage.settle() == statements


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("operation", ["approve", "bonus"])
def test_a_lost_call_is_paid_once_or_waits_for_a_person(stage, operation, when):
    stage.finish("AANN")
    stage.hand_in("AANN")
    stage.lose(operation, when)
    if (stage.kind, operation, when) != ("late", "bonus", "before"):
        assert agreed(stage, stage.settle())
        assert stage.paid("AANN") == stage.due
        return
    # Nobody can know that the order never arrived: the platform shows nothing, and is not asked
    # to pay again before somebody who looked says so.
    with pytest.raises(AssertionError, match="payment_unknown"):
        stage.settle()
    [line] = [line for line in stage.ledger() if line.state == "unknown"]
    settle_by_hand(stage.sessions, stage.run, line.id, stage.clock, is_paid=False)
    assert agreed(stage, stage.settle())
    assert stage.paid("AANN") == stage.due


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.campaign)])
def test_a_process_that_dies_at_any_point_pays_everybody_once(stage, instance, step):
    points = paid_with_death_at(stage, instance, 0)
    # Over HTTP a few points are tried; benchmarks/faults_restored.py draws them by the thousand.
    for number in range(1, points + 1, step if stage.kind == "late" else points // 4):
        paid_with_death_at(stage, instance, number)


def test_an_older_backup_that_is_put_back_pays_nobody_twice(stage, instance):
    stage.finish("AANN")
    stage.hand_in("AANN")
    stage.poll()
    restore = copied_with_ledger(stage.sessions, instance)
    assert agreed(stage, stage.settle())
    stage.clock.go_on(hours=30)  # longer than any platform remembers a token
    restore()
    assert stage.ledger() == []
    if stage.kind == "late":
        # It shows amounts alone, so a person says that the bonus there is this one.
        with pytest.raises(AssertionError, match="payment_refused"):
            stage.settle()
        [line] = [line for line in stage.ledger() if line.state == "refused"]
        assert stage.paid("AANN") == stage.due
        settle_by_hand(stage.sessions, stage.run, line.id, stage.clock, is_paid=True)
    assert agreed(stage, stage.settle())
    assert stage.paid("AANN") == stage.due


def test_offers_that_an_older_backup_forgot_are_found_and_not_made_again(stage):
    stage.hand_in("AANN")
    with reading(stage.sessions) as session:
        before = [(hit.token, hit.platform_id) for hit in load_recruitment_hits(session, stage.run)]
    stage.clock.go_on(hours=30)
    with stage.sessions.begin() as session:
        for model in (Assignment, Hit, Recruitment):
            session.execute(delete(model))
    plan = draft_plan(stage.sessions, stage.platform, stage.run.ref, LINK, stage.clock())
    assert [(each.token, each.offer_id) for each in plan.lost] == before
    # The place of whoever handed in, and is not in the database, is still to be filled.
    assert plan.unfilled - plan.open == 1
    list(
        carry_out_plan(
            stage.sessions, stage.platform, replace(plan, offers=(), grow=()), stage.clock
        )
    )
    with reading(stage.sessions) as session:
        after = [(hit.token, hit.platform_id) for hit in load_recruitment_hits(session, stage.run)]
    assert after == before
    stage.poll()
    with reading(stage.sessions) as session:
        assert [a.worker_id for a in session.scalars(select(Assignment))] == ["AANN"]


def paid_with_death_at(stage: Stage, instance: Path, point: int) -> int:
    """Pay somebody while the process dies at a point, and return how many points there were."""
    name = f"A{point}"
    stage.finish(name)
    stage.hand_in(name)
    stage.death.points, stage.death.at = 0, point
    with suppress(ProcessDied):
        stage.pay()
        stage.clock.go_on(hours=2)
        stage.pay()
    points, stage.death.at = stage.death.points, 0
    doubtful_or_settled(stage)
    assert stage.paid(name) == stage.due, f"died at point {point}"
    if stage.kind == "late":
        with stage.sessions.begin() as session:
            for model in (Payment, Assignment, Participant):
                session.execute(delete(model))
        stage.platform.assignments.clear()
        stage.platform.bonuses.clear()
        # The next one begins anew: no payment was ever made from here.
        (instance / "ledger").write_text('{"epoch": 1, "payments": 0, "offers": 0}')
    return points


def publish_more(stage: Stage) -> None:
    plan = draft_plan(stage.sessions, stage.platform, stage.run.ref, LINK, stage.clock())
    list(carry_out_plan(stage.sessions, stage.platform, plan, stage.clock))


def doubtful_or_settled(stage: Stage) -> None:
    """Settle, with a person's word where the order was written down and never sent."""
    try:
        assert agreed(stage, stage.settle())
    except AssertionError:
        doubtful = [line for line in stage.ledger() if line.state == "unknown"]
        assert doubtful
        for line in doubtful:
            settle_by_hand(stage.sessions, stage.run, line.id, stage.clock, is_paid=False)
        assert agreed(stage, stage.settle())


def test_a_rejection_stands_and_can_be_undone(stage):
    stage.finish("AANN")
    id_ = stage.hand_in("AANN")
    stage.poll()
    category = CATEGORY if stage.kind == "late" else ""
    refuse_rejection(stage.platform, REASON, category)
    with reading(stage.sessions) as session:
        entry = build_review_entry(
            session, stage.run, load_accounts(session, stage.run), id_,
            (PaymentKind.REJECTION, 0, REASON), category=category,
        )  # fmt: skip
    decide(stage, entry)
    assert stage.paid("AANN") == []
    assert [s.owed_minor for s in stage.settle()] == [0]
    item = (PaymentKind.REWARD, stage.study.reward_minor, "Paid after all.")
    with reading(stage.sessions) as session:
        owed = load_accounts(session, stage.run)
        entry = build_review_entry(session, stage.run, owed, id_, item, undo_rejection=True)
    decide(stage, entry, undo_rejections=True)
    assert agreed(stage, stage.settle())
    assert stage.paid("AANN") == stage.due


def decide(stage: Stage, entry: Any, *, undo_rejections: bool = False) -> None:
    for _ in range(3):
        pay_entries(
            stage.sessions, stage.platform, stage.run, [entry], stage.caps, stage.clock,
            undo_rejections=undo_rejections,
        )  # fmt: skip
        stage.clock.go_on(hours=2)


def test_a_place_that_becomes_free_is_offered_once_more_and_no_further(stage):
    with stage.sessions.begin() as session:
        session.add(Place(run_id=stage.run.id, list=0, place=99))
    publish_more(stage)
    publish_more(stage)
    with reading(stage.sessions) as session:
        hits = session.scalars(select(Hit.platform_id)).all()
    assert sum(stage.platform.state(hit).places for hit in hits) == 9
    assert len(hits) == (1 if stage.kind == "late" else 2)


# What only a platform that tells every status, or pays in two steps, can show.


@pytest.fixture
def late_stage(open_stage, late) -> Stage:
    return open_stage("late", late)


def statuses(stage: Stage) -> set[str]:
    with reading(stage.sessions) as session:
        return set(session.scalars(select(Assignment.status)))


@pytest.mark.parametrize("status", AssignmentStatus)
def test_each_status_is_stored_as_the_platform_tells_it(late_stage, late, status):
    id_ = late[0].take("AANN")
    late[0].become(id_, status, 40 if status is AssignmentStatus.PARTIALLY_APPROVED else None)
    for _ in range(9):  # the list leaves rows out
        late_stage.poll()
    assert statuses(late_stage) == {status}


def test_who_is_missing_from_a_list_has_not_given_back(late_stage, late):
    id_ = late[0].take("AANN")
    for _ in range(9):
        late_stage.poll()
    late[0].rng = random.Random(0)
    late[0].assignments[id_], kept = late[0].assignments[id_], dict(late[0].assignments)
    late[0].assignments.clear()
    late_stage.poll()
    late[0].assignments.update(kept)
    assert statuses(late_stage) == {AssignmentStatus.ACTIVE}


def test_what_the_platform_paid_in_part_is_what_the_books_say(late_stage, late):
    late_stage.finish("AANN")
    late[0].become(late[0].take("AANN"), AssignmentStatus.PARTIALLY_APPROVED, 40)
    [statement] = late_stage.settle()
    assert (statement.owed_minor, statement.ledger_minor) == (70, 70)


def test_who_could_not_hand_in_is_compensated_by_a_bonus(late_stage, late):
    late_stage.finish("AANN")
    id_ = late[0].take("AANN")
    late[0].become(id_, AssignmentStatus.TIMED_OUT)
    for _ in range(9):
        late_stage.poll()
    with reading(late_stage.sessions) as session:
        on = find_unsubmitted_assignment(session, late_stage.run, "AANN")
        [account] = load_accounts(session, late_stage.run)
    entry = build_compensation_entry(account, "AANN", REWARD, "It broke.", assignment=on)
    decide(late_stage, entry)
    decide(late_stage, entry)
    assert late[0].paid("AANN") == [("bonus", REWARD)]
    assert agreed(late_stage, late_stage.settle())


def test_a_set_up_is_ordered_at_most_once_and_silence_is_for_a_person(late_stage, late):
    late[0].ignores_orders = True
    late_stage.finish("AANN")
    late_stage.hand_in("AANN")
    for _ in range(4):
        late_stage.pay()
        late_stage.clock.go_on(hours=30)
    assert set(late[0].orders.values()) == {1}
    [line] = [line for line in late_stage.ledger() if line.kind == "bonus"]
    assert line.state == "unknown"
    [found] = [f for f in find_discrepancies(late_stage.look()) if f.problem == "payment_unknown"]
    assert f"parallax settle {late_stage.run.ref} {line.id} --not-paid" in found.remedy
    late[0].ignores_orders = False
    settle_by_hand(late_stage.sessions, late_stage.run, line.id, late_stage.clock, is_paid=False)
    assert agreed(late_stage, late_stage.settle())
    assert sorted(late[0].orders.values()) == [1, 1]
    with pytest.raises(PaymentError, match="not in doubt"):
        settle_by_hand(late_stage.sessions, late_stage.run, line.id, late_stage.clock, is_paid=True)


def test_two_bonuses_of_one_amount_are_not_taken_for_each_other(late_stage, late):
    late_stage.finish("AANN")
    id_ = late_stage.hand_in("AANN")
    late_stage.settle()
    late[0].bonuses[id_].append(30)  # by hand, on the platform's own site
    snapshot = late_stage.look()
    assert [f.problem for f in find_discrepancies(snapshot)] == ["bonus_elsewhere"]
    late_stage.settle()
    assert [line.amount_minor for line in late_stage.ledger()] == [REWARD, 30, 30]


@pytest.mark.parametrize(
    ("reason", "category", "said"),
    [("Too short.", CATEGORY, "at least 20"), (REASON, "", "missing"), (REASON, "BAD", "one of")],
)
def test_a_rejection_that_the_platform_would_not_take_is_refused_before(
    late, reason, category, said
):
    with pytest.raises(PaymentError, match=said):
        refuse_rejection(late[0], reason, category)
