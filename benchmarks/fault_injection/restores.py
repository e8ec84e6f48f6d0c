"""What makes the ledger know less than the platform: restores, copies, colleagues who pay.

The database is put back from an earlier copy as ``db restore`` leaves it, as a copied file, or
together with what lies beside it; or somebody goes on with a second copy of the installation. A
colleague pays by hand on the platform's own pages. The operator then does what the messages say.
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from experiment.payment.payment import PaymentError, PaymentState
from fault_injection.copies import State, keep, put_back
from fault_injection.operator import CAPS, Death, NotYetDone, Operator
from webapp.database.engine import reading
from webapp.database.models import Payment
from webapp.gate.gate import GateError
from webapp.payments.ledger import load_payments
from webapp.payments.non_idempotent_bonuses import settle_by_hand
from webapp.payments.pay import make_payments
from webapp.payments.platform_payments import is_paid_by_hand
from webapp.payments.reconciliation.reconcile import report_comparison
from webapp.payments.reconciliation.snapshot import Discrepancy
from webapp.payments.spending import RunSpending
from webapp.recruiters.platform import PlatformError
from webapp.recruiters.statuses import AssignmentStatus

CLOCK = "clock set wrong"
_CLOCK_IS_WRONG, _WRONG_BY_H = 0.2, (-26, -1, 1, 26)
_LOOKS, _SENDS = ("bonuses", "bonuses_of"), ("send_bonus", "pay_bonus")
WAYS = ("restored", "copied", "copied with its ledger", "second copy")


class Meddling(Death):
    """A death whose moments a colleague also uses, to pay by hand.

    Attributes:
        colleague: What they do.
        meddles: How likely at each moment.
        too_late: What finds those of their payments that no look at the platform's bonuses could
            show before the next bonus was sent.
    """

    colleague: Callable[[], str | None] = staticmethod(lambda: None)
    meddles = 0.0

    def __init__(self, rng: random.Random, probability: float) -> None:
        super().__init__(rng, probability)
        self.too_late, self._unseen = set[str](), set[str]()

    def before(self, call: str) -> None:
        """Note what the look at bonuses that comes now shows, and what none showed in time."""
        if call in _LOOKS:
            self._unseen.clear()
        if call in _SENDS:
            self.too_late |= self._unseen

    def may_come(self, *arguments: object) -> None:
        """Pay by hand, perhaps; then die, perhaps."""
        if self.on and self._rng.random() < self.meddles and (made := self.colleague()):
            self._unseen.add(made)
        super().may_come(*arguments)


class Restored(Operator):
    """An operator whose database is put back now and then, and who does what the messages say.

    What is decided is: a bonus of the amount that was paid by
    hand is the one that was due; any other is paid too, and the limit for a person is raised by it.

    Attributes:
        counts: What happened.
        restores: How likely the database is put back before a step.
        states: What it may be put back to.
        keeps: Whether the next poll leaves a copy.
        lost: The work of people who came after the copy that was put back.
        beside: The work of those whom they decided to pay beside what was paid by hand.
    """

    counts: Counter[str]
    restores = 0.0
    keeps = False

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self.states = list[State]()
        self.lost, self._half_lost = set[str](), dict[str, str]()
        self.beside = set[str]()

    def poll(self) -> None:
        """Bring in what the platform knows, and perhaps copy the database."""
        super().poll()
        if self.keeps:
            self.keeps = False
            self.keep()

    def lose_people(self, people: Sequence[Any]) -> None:
        """Put back the copy from the middle of the work: who came since is not in it."""
        state, way = self.states.pop(), self.rng.choice(WAYS[:2])
        self.counts[way] += 1
        put_back(self.environment, state, way)
        known = {each.participant.platform_id: each for each in self.accounts()}
        for person in people:
            here = known.get(person.payee)
            if person.finished and not (here and here.finished):
                self.lost.add(person.work)
                if here:
                    self._half_lost[here.participant.ref] = person.work
        self.counts["people lost with a copy"] += len(self.lost)

    def _reject(self, assignment: str) -> None:
        """Reject who did nothing; who is named and has worked, a person pays."""
        if assignment not in self.lost:
            super()._reject(assignment)
            return
        self._approve_only(assignment, undo_rejection=False)

    def settle_the_rest(self) -> list[Discrepancy]:
        """Do as an operator does; whose answers went with a copy, and is named, a person pays."""
        found = super().settle_the_rest()
        named = [self._half_lost.get(d.who) for d in found if d.problem == "submitted_unfinished"]
        for work in filter(None, named):
            self.approve_only(work, undo_rejection=False)
        # What mending found beside a bonus paid by hand, nobody has decided about yet.
        refused = any(each.problem == "payment_refused" for each in found)
        if refused:
            self._until_done(self._decide)
        return super().settle_the_rest() if refused or any(named) else found

    def keep(self) -> None:
        """Make a copy that may be put back."""
        self.states.append(keep(self.environment))

    def waits(self, work: str) -> bool:
        """Return whether somebody's work waits for a decision, by the platform's word."""
        try:
            return bool(self._platform.submission(work).status is AssignmentStatus.SUBMITTED)
        except PlatformError:
            return False  # Nothing was handed in.

    def stated(self) -> RunSpending:
        """Return what makes the run's statement, by what reconciling saw last."""
        return RunSpending(self._sessions, self._platform, self.run, self._study, self._seen)

    def _until_done(self, step: Callable[[], None]) -> None:
        def perhaps_restored() -> None:
            self._perhaps_put_back()
            try:
                step()
            except GateError:
                self._reconcile()
                raise NotYetDone from None

        super()._until_done(perhaps_restored)

    def _perhaps_put_back(self) -> None:
        if not self.states or self.rng.random() >= self.restores:
            return
        self.death.on = False
        way = self.rng.choice(WAYS)
        self.counts[way] += 1
        state = self.rng.choice(self.states)
        if way == "second copy" or self.rng.random() < 0.3:
            self.keep()  # Whoever has the other copy goes on with it later.
            del self.states[1:-3]
        put_back(self.environment, state, way)
        if self.rng.random() < _CLOCK_IS_WRONG:
            # A machine that was put back may have another time, until somebody sets it right.
            self.counts[CLOCK] += 1
            self.environment.clock.go_on(hours=self.rng.choice(_WRONG_BY_H))
        self.death.on = True

    def _reconcile(self) -> None:
        self.counts["stopped at the gate"] += 1
        self._poll()
        self._look()
        report_comparison(self._sessions, self._seen)
        self._mend()

    def _pay(self, entries: Sequence[object], *, undo_rejections: bool = False) -> None:
        try:
            super()._pay(entries, undo_rejections=undo_rejections)
        except NotYetDone:
            self._decide()
            raise
        except PaymentError:
            if self._raises_limit():
                raise NotYetDone from None
            raise

    def _raises_limit(self) -> bool:
        """Raise the limit for a person by what colleagues paid them, if that is new, and say so."""
        by_hand = Counter[str]()
        with reading(self._sessions) as session:
            for line in load_payments(session, self.run):
                by_hand[line.worker_id] += line.amount_minor * is_paid_by_hand(line)
        raised = CAPS.per_participant_minor + max(by_hand.values(), default=0)
        is_new = raised > self.caps.per_participant_minor
        if is_new:
            self.caps = replace(self.caps, per_participant_minor=raised)
        return is_new

    def _decide(self) -> None:
        """Decide as a person would what was refused beside a bonus paid by hand."""
        with reading(self._sessions) as session:
            lines = session.scalars(select(Payment).where(Payment.run_id == self.run.id)).all()
        refused = [line for line in lines if line.state == PaymentState.REFUSED]
        if any("missing from the ledger" in line.answer for line in refused):
            self._reconcile()
            return
        clock = self.environment.clock
        for line in refused:
            beside = [one for one in lines if one.assignment == line.assignment]
            if "by hand for the same work" not in line.answer or not any(
                map(is_paid_by_hand, beside)
            ):
                continue
            self.counts["decided by a person"] += 1
            try:
                settle_by_hand(self._sessions, self.run, line.id, clock, is_paid=True)
            except PaymentError:
                self.beside.add(line.assignment or "")
                make_payments(self._sessions, self._platform, [line.id], clock, additional=True)
