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

from drill.town import LINK, Town
from experiment.payment import Caps, PaymentKind, PaymentState, bonuses_by_rule
from webapp.db import make_sessions, reading
from webapp.flow.compensate import compensation, offer_compensation, taken_up
from webapp.flow.entries import bonuses, judgment, rewards
from webapp.flow.ledger import IN_HAND, Entry, payments_of
from webapp.flow.offer import terms_of
from webapp.flow.owed import Account, accounts
from webapp.flow.pay import pay_entries
from webapp.flow.poll import poll
from webapp.flow.publish import draft, publish
from webapp.flow.reconcile.finding import Finding
from webapp.flow.reconcile.mend import findings, mend
from webapp.flow.reconcile.snapshot import take_snapshot
from webapp.flow.runs import study_as_launched
from webapp.models import Run
from webapp.recruiters.platform import Platform, PlatformUnreachable

_CAPS = Caps(per_participant_cents=100, per_run_cents=10_000)
_PAUSES_H = (0.001, 0.1, 0.6, 25)
_LIKELY = (60, 30, 8, 2)
_MOST_TRIES = 500


class ProcessDied(BaseException):
    """The operator's process is gone; nothing of it runs any more."""


class NotYetDone(Exception):
    """A payment is still in doubt or in another process's hand."""


class Death:
    """Ends the process at a random point, if it is on."""

    def __init__(self, rng: random.Random, probability: float) -> None:
        self._rng, self._probability, self.deaths, self.on = rng, probability, 0, False

    def may_come(self, *_: object) -> None:
        """Die, perhaps."""
        if self.on and self._rng.random() < self._probability:
            self.deaths += 1
            raise ProcessDied


class Frail:
    """A platform whose caller may die before and after every call."""

    def __init__(self, platform: Platform, death: Death) -> None:
        self._platform, self._death = platform, death
        self.endpoint = platform.endpoint

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*arguments: object, **named: object) -> object:
            self._death.may_come()
            answer = getattr(self._platform, name)(*arguments, **named)
            # Lists are read to their end, so that what fails on the way fails here.
            answer = iter(list(answer)) if hasattr(answer, "__next__") else answer
            self._death.may_come()
            return answer

        return call


class Operator:
    """Whoever runs the study."""

    def __init__(
        self, town: Town, run: Run, platform: Platform, rng: random.Random, death: Death
    ) -> None:
        self.town, self.run, self.rng, self.death = town, run, rng, death
        self.retries = 0
        self._found: list[Finding] = []
        self._platform: Any = Frail(platform, death)
        self._sessions = make_sessions(town.services.engine)
        event.listen(self._sessions, "before_commit", death.may_come)
        event.listen(self._sessions, "after_commit", death.may_come)
        with reading(self._sessions) as session:
            self._study = study_as_launched(session, run)

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

    def settle_the_rest(self) -> list[Finding]:
        """Reject who did nothing, compensate who could not submit, mend, and return what is left.

        Taking compensation up is the workers' part: settle again when they have done it.
        """
        self.poll()
        self._until_done(self._look)
        for finding in self._found:
            if finding.problem == "submitted_by_nobody":
                self._until_done(partial(self._reject, finding.who))
            if finding.problem == "finished_not_submitted":
                self._until_done(partial(self._compensate, finding.who))
        for _ in range(_MOST_TRIES):
            # Nothing is in another process's hand any more.
            self.town.clock.go_on(seconds=IN_HAND.total_seconds())
            self.poll()
            self._until_done(self._look)
            if not any(finding.safe for finding in self._found):
                break
            self._until_done(self._mend)
        return self._found

    def accounts(self) -> list[Account]:
        """Return what everybody did and got."""
        with reading(self._sessions) as session:
            return accounts(session, self.run)

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
            self.town.clock.go_on(hours=hours)
        raise AssertionError(f"{step} was tried {_MOST_TRIES} times")

    def _publish(self) -> None:
        link = f"{LINK}/run/{self.run.ref}"
        plan = draft(self._sessions, self._platform, self.run.ref, link, self.town.clock())
        if plan.offers or plan.reopen:
            list(publish(self._sessions, self._platform, plan, self.town.clock))

    def _poll(self) -> None:
        poll(self._sessions, self._platform, self.run.ref, self.town.clock())
        with self._sessions.begin() as session:
            taken_up(session, self.run)

    def _approve(self) -> None:
        self._poll()
        self._pay(rewards(self.accounts(), terms_of(self._study).reward_cents))

    def _bonus(self) -> None:
        owed = self.accounts()
        finishers = [a.finisher for a in owed if a.finished and a.assignment is not None]
        entries, waiting = bonuses(owed, bonuses_by_rule(self._study.payment, finishers))
        assert not waiting, "bonuses come after every reward is paid"
        self._pay(entries)

    def _pay(self, entries: Sequence[Entry]) -> None:
        pay_entries(self._sessions, self._platform, self.run, entries, _CAPS, self.town.clock)
        wanted = {entry.due.token(self.run.ref) for entry in entries}
        with reading(self._sessions) as session:
            ledger = payments_of(session, self.run)
        if any(p.token in wanted and p.state != PaymentState.DONE for p in ledger):
            raise NotYetDone

    def _mend(self) -> None:
        mend(
            self._sessions,
            self._platform,
            self.run,
            self._study,
            self._compensation_link,
            self._seen,
            self.town.clock,
        )

    def _look(self) -> None:
        services, now = self.town.services, self.town.clock()
        self._seen = take_snapshot(self._sessions, self._platform, self.run, services.tokens, now)
        self._found = findings(self._seen)

    def _reject(self, assignment: str) -> None:
        due = (PaymentKind.REJECTION, 0, "The study was not done.")
        with reading(self._sessions) as session:
            entry = judgment(session, self.run, self.accounts(), assignment, due)
        self._pay([entry])

    def _compensate(self, ref: str) -> None:
        account = next(a for a in self.accounts() if a.participant.ref == ref)
        worker_id = account.participant.platform_id
        assert worker_id is not None
        offer_compensation(
            self._sessions,
            self._platform,
            self.run,
            self._study,
            compensation(account, worker_id, 10, "You could not submit."),
            _CAPS,
            self._compensation_link,
            self.town.clock,
        )
