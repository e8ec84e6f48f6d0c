"""The operator: publishes, polls, pays and reconciles, again and again until it is done.

Everything goes through one door: the operator's process may die before or after any call of the
platform and before or after any commit, and any call may be refused, lost or answered late. What
is left undone is done again, as a person would who gives the command once more.
"""

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from sqlalchemy import event

from experiment.payment.bonuses import bonuses_by_rule
from experiment.payment.payment import Caps, PaymentKind, PaymentState
from fault_injection.environment import LINK, Environment
from webapp.database.engine import make_sessions, reading
from webapp.database.models import Run
from webapp.payments.accounts import PayeeAccount, load_accounts
from webapp.payments.bonuses import build_bonus_entries
from webapp.payments.compensate import (
    build_compensation_entry,
    offer_compensation,
    record_accepted_compensation,
)
from webapp.payments.compensation_request import find_offers, withdraw_compensation
from webapp.payments.ledger import CLAIM_TIMEOUT, Entry, load_payments
from webapp.payments.pay import pay_entries
from webapp.payments.reconciliation.reconcile import find_discrepancies, fix_discrepancies
from webapp.payments.reconciliation.snapshot import Discrepancy, take_snapshot
from webapp.payments.rewards import build_review_entry, build_reward_entries
from webapp.recruiters.platform import Platform, PlatformUnreachable
from webapp.recruitment.poll import poll_run
from webapp.recruitment.publish import carry_out_plan, draft_plan
from webapp.runs.runs import load_launched_study

CAPS = Caps(per_participant_minor=100, per_run_minor=10_000, currency="USD")
_PAUSES_H = (0.001, 0.1, 0.6, 25, -0.02)
_LIKELY = (60, 30, 8, 2, 4)
_MOST_TRIES = 500


class ProcessDied(BaseException):
    """The operator's process is gone; nothing of it runs any more."""


class NeverDone(AssertionError):
    """A step did not come to its end, however often it was tried."""


class NotYetDone(Exception):
    """A payment is still in doubt or in another process's hand."""


class Death:
    """Ends the process at a random point, if it is on."""

    def __init__(self, rng: random.Random, probability: float) -> None:
        self._rng, self._probability, self.deaths, self.on = rng, probability, 0, False

    def before(self, call: str) -> None:
        """Take notice of the call of the platform that comes now."""

    def may_come(self, *_: object) -> None:
        """Die, perhaps."""
        if self.on and self._rng.random() < self._probability:
            self.deaths += 1
            raise ProcessDied


class Frail:
    """A platform whose caller may die before and after every call."""

    def __init__(self, platform: Platform, death: Death) -> None:
        self._platform, self._death = platform, death

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        # What the platform lacks is lacking here too: capabilities are asked for by attributes.
        found = getattr(self._platform, name)
        if not callable(found):
            return found

        def call(*arguments: object, **named: object) -> object:
            self._death.may_come()
            self._death.before(name)
            answer = found(*arguments, **named)
            # Lists are read to their end, so that what fails on the way fails here.
            answer = iter(list(answer)) if hasattr(answer, "__next__") else answer
            self._death.may_come()
            return answer

        return call


class Operator:
    """Whoever runs the study.

    Attributes:
        rejects_with: What whom they reject is told, and the platform's category of it.
        caps: The most that they let be paid.
    """

    caps = CAPS
    rejects_with = ("The study was not done.", "")

    def __init__(
        self,
        environment: Environment,
        run: Run,
        platform: Platform,
        rng: random.Random,
        death: Death,
    ) -> None:
        self.environment, self.run, self.rng, self.death = environment, run, rng, death
        self.retries = 0
        self._found: list[Discrepancy] = []
        self._platform: Any = Frail(platform, death)
        self._sessions = make_sessions(environment.services.engine)
        event.listen(self._sessions, "before_commit", death.may_come)
        event.listen(self._sessions, "after_commit", death.may_come)
        with reading(self._sessions) as session:
            self._study = load_launched_study(session, run)

    def publish(self) -> None:
        """Offer every open place."""
        self._until_done(self._publish)

    def poll(self) -> None:
        """Bring in what the platform knows."""
        self._until_done(self._poll)

    def pay(self) -> None:
        """Pay the reward and the bonus to everyone who is owed them."""
        self._until_done(self._approve)
        self._until_done(self._bonus)

    def bonus(self) -> None:
        """Pay the bonus to everyone who can have it yet."""
        self._until_done(self._bonus)

    def reject(self, who: str) -> None:
        """Reject the submission of somebody."""
        self._until_done(partial(self._reject, who))

    def approve_only(self, who: str, *, undo_rejection: bool) -> None:
        """Pay the reward of one submission, also of one that was rejected."""
        self._until_done(partial(self._approve_only, who, undo_rejection))

    def pay_entries(self, entries: Sequence[Entry]) -> None:
        """Pay what somebody wrote down."""
        self._until_done(partial(self._pay, entries))

    def compensate(self, ref: str) -> None:
        """Offer somebody the reward, in place of what was offered before."""
        self._until_done(partial(self._compensate, ref))

    def settle_the_rest(self) -> list[Discrepancy]:
        """Reject who did nothing, compensate who could not submit, mend, and return what is left.

        Taking compensation up is the workers' part: settle again when they have done it.
        """
        self.poll()
        self._until_done(self._look)
        for discrepancy in self._found:
            if discrepancy.problem == "submitted_by_nobody":
                self._until_done(partial(self._reject, discrepancy.who))
            if discrepancy.problem == "finished_not_submitted":
                self.compensate(discrepancy.who)
        for _ in range(_MOST_TRIES):
            # Nothing is in another process's hand any more.
            self.environment.clock.go_on(seconds=CLAIM_TIMEOUT.total_seconds())
            self.poll()
            self._until_done(self._look)
            # The clock may have gone back since, and what is in a dead process's hand is not safe.
            if not (self._seen.claimed or any(each.safe for each in self._found)):
                break
            self._until_done(self._mend)
        return self._found

    def accounts(self) -> list[PayeeAccount]:
        """Return what everybody did and got."""
        with reading(self._sessions) as session:
            return load_accounts(session, self.run)

    @property
    def _compensation_link(self) -> str:
        return f"{LINK}/run/{self.run.ref}/compensation"

    def _until_done(self, step: Callable[[], None]) -> None:
        for _ in range(_MOST_TRIES):
            self.death.on = True
            try:
                step()
                return
            except (ProcessDied, PlatformUnreachable, NotYetDone):
                self.retries += 1
            finally:
                self.death.on = False
            [hours] = self.rng.choices(_PAUSES_H, _LIKELY)
            self.environment.clock.go_on(hours=hours)
        with reading(self._sessions) as session:
            open_lines = [
                f"{line.kind} of {line.participant_id}: {line.state} {line.answer}"
                for line in load_payments(session, self.run)
                if line.state != PaymentState.DONE
            ]
        raise NeverDone(f"{step} was tried {_MOST_TRIES} times; not done: {open_lines}")

    def _publish(self) -> None:
        link = f"{LINK}/run/{self.run.ref}"
        plan = draft_plan(
            self._sessions, self._platform, self.run.ref, link, self.environment.clock()
        )
        if not plan.is_empty:
            list(carry_out_plan(self._sessions, self._platform, plan, self.environment.clock))

    def _poll(self) -> None:
        poll_run(self._sessions, self._platform, self.run.ref, self.environment.clock())
        with self._sessions.begin() as session:
            record_accepted_compensation(session, self.run)

    def _approve(self) -> None:
        self._poll()
        self._pay(build_reward_entries(self.accounts(), self._study.reward_minor))

    def _bonus(self) -> None:
        owed = self.accounts()
        finishers = [a.bonus_candidate for a in owed if a.finished]
        # Who waits could not submit, and gets the bonus on the compensation.
        entries, _waiting = build_bonus_entries(
            owed, bonuses_by_rule(self._study.payment, finishers, "run")
        )
        self._pay(entries)

    def _approve_only(self, who: str, undo_rejection: bool) -> None:
        self._poll()
        item = (PaymentKind.REWARD, self._study.reward_minor, "Thank you for taking part.")
        with reading(self._sessions) as session:
            entry = build_review_entry(
                session, self.run, self.accounts(), who, item, undo_rejection=undo_rejection
            )
        self._pay([entry], undo_rejections=undo_rejection)

    def _pay(self, entries: Sequence[Entry], *, undo_rejections: bool = False) -> None:
        pay_entries(
            self._sessions,
            self._platform,
            self.run,
            entries,
            self.caps,
            self.environment.clock,
            undo_rejections=undo_rejections,
        )
        wanted = {entry.item.token(self.run.ref) for entry in entries}
        with reading(self._sessions) as session:
            ledger = load_payments(session, self.run)
        ended = (PaymentState.DONE, PaymentState.WITHDRAWN)
        if any(p.token in wanted and p.state not in ended for p in ledger):
            raise NotYetDone

    def _mend(self) -> None:
        fix_discrepancies(
            self._sessions,
            self._platform,
            self.run,
            self._study,
            self._compensation_link,
            self._seen,
            self.environment.clock,
        )

    def _look(self) -> None:
        services, now = self.environment.services, self.environment.clock()
        self._seen = take_snapshot(self._sessions, self._platform, self.run, services.tokens, now)
        self._found = find_discrepancies(self._seen)

    def _reject(self, assignment: str) -> None:
        reason, category = self.rejects_with
        item = (PaymentKind.REJECTION, 0, reason)
        with reading(self._sessions) as session:
            entry = build_review_entry(
                session, self.run, self.accounts(), assignment, item, category=category
            )
        self._pay([entry])

    def _compensate(self, ref: str) -> None:
        amount_minor = self._study.reward_minor
        account = next(a for a in self.accounts() if a.participant.ref == ref)
        worker_id = account.participant.platform_id
        assert worker_id is not None
        with reading(self._sessions) as session:
            standing, withdrawn = find_offers(session, self.run, worker_id)
        if standing is not None and standing.amount_minor != amount_minor:
            withdraw_compensation(self._sessions, self._platform, standing, self.environment.clock)
            withdrawn += 1
        offer_compensation(
            self._sessions,
            self._platform,
            self.run,
            self._study,
            build_compensation_entry(
                account,
                worker_id,
                amount_minor,
                "You could not submit.",
                withdrawn=withdrawn,
            ),
            self.caps,
            self._compensation_link,
            self.environment.clock,
        )
