"""What researchers do wrong: the wrong amount, person, file or order, and everything twice.

What is refused must change nothing; what is done and can be undone is undone.
"""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from experiment.errors import ParallaxError
from experiment.payment.bonuses import read_bonus_file
from experiment.payment.payment import PaymentItem, PaymentKind
from fault_injection.operator import Operator
from webapp.payments.accounts import PayeeAccount
from webapp.payments.bonuses import build_bonus_entries
from webapp.payments.ledger import Entry
from webapp.payments.rewards import build_reward_entries
from webapp.recruiters.statuses import AssignmentStatus

_WRONG_FILES = (
    "participant,amount,reason\n{who},500,Cents in place of dollars\n",
    "participant,amount,reason\n{who},0.500,Three digits\n",
    "participant,amount_cents,reason\n{who},5,The columns of earlier\n",
    "participant,amount,reason\nnobody,0.05,Somebody of another run\n",
    "participant,amount,reason\n{who},0.05,Twice\n{who},0.06,twice \n",
    "{who};0.05;Semicolons\n",
)


class NotRefused(AssertionError):
    """A mistake was carried out."""


class Erring:
    """Somebody who errs now and then.

    Args:
        rng: What decides when.
        probability: How often each mistake is made where it can be.

    Attributes:
        made: How many mistakes they made.
        refused: How many of them were refused.
    """

    def __init__(self, rng: random.Random, probability: float) -> None:
        self._rng, self._probability = rng, probability
        self.made = self.refused = 0

    def _errs(self) -> bool:
        return self._rng.random() < self._probability

    def _perhaps(self, command: Callable[[], object]) -> None:
        if self._errs():
            self.made += 1
            command()

    def _refused(self, command: Callable[[], object]) -> None:
        self.made += 1
        try:
            command()
        except ParallaxError:
            self.refused += 1
        else:
            raise NotRefused(f"{command} of line {command.__code__.co_firstlineno}")


class Mistakes(Erring):
    """A researcher who pays, and errs.

    Args:
        operator: Who runs the study.
        rng: What decides when.
        probability: How often each mistake is made where it can be.
    """

    def __init__(self, operator: Operator, rng: random.Random, probability: float) -> None:
        super().__init__(rng, probability)
        self._operator = operator

    def before_paying(self) -> None:
        """Give commands before their time, and reject the wrong person, which is undone."""
        self._perhaps(self._operator.bonus)
        self._perhaps(self._operator.publish)
        waiting = [a for a in self._operator.accounts() if a.finished and _awaits_decision(a)]
        if waiting and self._errs():
            who = self._rng.choice(waiting).participant.ref
            self._operator.reject(who)
            self._operator.poll()
            # The platform may have approved it before, and then nothing was rejected.
            if not any(a.approved for a in self._operator.accounts() if a.participant.ref == who):
                self._refused(lambda: self._operator.approve_only(who, undo_rejection=False))
            self._operator.approve_only(who, undo_rejection=True)

    def after_paying(self) -> None:
        """Give commands twice and with other amounts, reject who is paid, and mix up files."""
        for command in (self._operator.pay, self._operator.poll, self._operator.publish):
            self._perhaps(command)
        paid = [a for a in self._operator.accounts() if a.approved and a.paid_assignment]
        if not paid:
            return
        account = self._rng.choice(paid)
        if self._errs():
            self._refused(lambda: self._operator.reject(account.participant.ref))
        wrong = [  # nothing for somebody whose rejection was undone
            replace(entry, item=replace(entry.item, amount_minor=21))
            for entry in build_reward_entries([account], 20)
        ]
        if wrong and self._errs():
            self._refused(lambda: self._operator.pay_entries(wrong))
        if self._errs() and account.payment(PaymentKind.BONUS):
            self._refused(lambda: self._operator.pay_entries(_other_bonus(account)))
        if self._errs():
            self._refused(lambda: self._operator.compensate(account.participant.ref, 20))
        if self._errs():
            self._refused(lambda: self._pay_wrong_file(account))

    def compensates_too_little(self) -> bool:
        """Return whether an offer is made with a wrong amount first."""
        return self._errs()

    def _pay_wrong_file(self, account: PayeeAccount) -> None:
        who = account.participant.ref
        path = Path(self._operator.environment.folder) / "bonuses.csv"
        path.write_text(self._rng.choice(_WRONG_FILES).format(who=who), encoding="utf-8")
        entries, _ = build_bonus_entries([account], read_bonus_file(path, [who], "USD", "run"))
        self._operator.pay_entries(entries)


def _awaits_decision(account: PayeeAccount) -> bool:
    assignment = account.assignment
    submitted = assignment is not None and assignment.status == AssignmentStatus.SUBMITTED
    return submitted and not account.payments


def _other_bonus(account: PayeeAccount) -> list[Entry]:
    line = account.payment(PaymentKind.BONUS)
    assert line is not None
    item = PaymentItem(account.participant.ref, PaymentKind.BONUS, 9, line.reason, "file")
    return build_bonus_entries([account], [item])[0]
