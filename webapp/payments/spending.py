"""A statement of spending: every payment of a run with its fee, what is still owed, and a page."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from experiment.money import in_words
from experiment.payment.cost import Charge
from experiment.payment.payment import PaymentKind, PaymentState
from experiment.studies.study import Study
from experiment.tables.files import safe_csv
from webapp.core.sealing import is_forgotten
from webapp.database.engine import Sessions, reading
from webapp.database.models import Assignment, Hit, Payment, Run
from webapp.payments.ledger import payments_of
from webapp.payments.platform_payments import TAKEN_AS_PAID
from webapp.payments.reconciliation.payment_checks import (
    unrecorded_bonuses,
    unrecorded_decisions,
)
from webapp.payments.reconciliation.snapshot import Snapshot
from webapp.payments.reconciliation.statement import stated_minor
from webapp.recruiters.platform import Audience, Platform
from webapp.recruitment.terms import task_of

NOBODY, FORGOTTEN = "(no participant)", "(forgotten)"
OWED = "owed"
_DOUBTFUL = (PaymentState.CALLING, PaymentState.ORDERED, PaymentState.UNKNOWN)


class Standing(StrEnum):
    """Whether the money of a line is spent."""

    PAID = "paid"
    IN_DOUBT = "in doubt"
    TO_BE_PAID = "to be paid"
    NOT_IN_THE_LEDGER = "paid, not in the ledger"


@dataclass(frozen=True, slots=True)
class SpendingLine:
    """One line of a statement; amounts are in minor units of the currency.

    Attributes:
        run: The run's reference.
        study: Its study.
        funder: The funder that the study names.
        platform: The paying platform.
        payee: A participant's reference; words in brackets if there is none.
        kind: A kind of payment, or "owed".
        by: The origin of the payment: "parallax", or "elsewhere" (by hand, or by the platform
            automatically).
        standing: Whether it is spent.
        amount_minor: The payee's amount.
        fee_minor: The platform's fee, taxes included.
        currency: The code of the currency.
        at: The time of settlement, ISO 8601 in UTC; empty if it is unsettled or unknown.
    """

    run: str
    study: str
    funder: str
    platform: str
    payee: str
    kind: str
    by: str
    standing: Standing
    amount_minor: int
    fee_minor: int
    currency: str
    at: str

    @property
    def total_minor(self) -> int:
        """The amount and the fee."""
        return self.amount_minor + self.fee_minor

    @property
    def is_spent(self) -> bool:
        """Whether the platform has taken the money."""
        return self.standing in (Standing.PAID, Standing.NOT_IN_THE_LEDGER)


@dataclass(frozen=True)
class RunSpending:
    """The source of a run's lines: the run, its platform, and the reconciled snapshot.

    Attributes:
        sessions: The installation's session factory.
        platform: The platform on which the run's participants are paid.
        run: The run.
        study: Its study.
        snapshot: The snapshot for reconciling.
    """

    sessions: Sessions
    platform: Platform
    run: Run
    study: Study
    snapshot: Snapshot

    def lines(self) -> Iterator[SpendingLine]:
        """Yield the ledger's lines, payments that only the platform shows, and debts.

        Raises:
            PlatformError: The platform cannot be asked for its fees.
        """
        with reading(self.sessions) as session:
            ledger = payments_of(session, self.run)
        for payment in ledger:
            if payment.amount_minor and _counts(payment):
                yield self._of_ledger(payment)
        yield from self._only_there()
        yield from self._owed()

    def _of_ledger(self, payment: Payment) -> SpendingLine:
        done = payment.state == PaymentState.DONE
        doubtful = payment.state in _DOUBTFUL
        elsewhere = done and (payment.called_at is None or payment.answer == TAKEN_AS_PAID)
        return self._line(
            self._payee(payment),
            payment.kind,
            payment.amount_minor,
            by="elsewhere" if elsewhere else "parallax",
            standing=Standing.PAID
            if done
            else Standing.IN_DOUBT
            if doubtful
            else Standing.TO_BE_PAID,
            places=self._places(payment.assignment),
            at=payment.settled_at.isoformat() if done and payment.settled_at else "",
        )

    def _only_there(self) -> Iterator[SpendingLine]:
        there = Standing.NOT_IN_THE_LEDGER
        for assignment, kind, _ in unrecorded_decisions(self.snapshot):
            amount_minor = self._stated(assignment)
            if kind != PaymentKind.REJECTION and amount_minor:
                payee = self.snapshot.ref(assignment.participant_id, NOBODY)
                places = self._places(assignment.platform_id)
                yield self._line(
                    payee, kind, amount_minor, by="elsewhere", standing=there, places=places
                )
        for bonus, item in unrecorded_bonuses(self.snapshot):
            who = self.snapshot.participant_of(bonus.assignment_id)
            payee = self.snapshot.ref(who, NOBODY)
            yield self._line(payee, item.kind, bonus.amount_minor, by="elsewhere", standing=there)

    def _owed(self) -> Iterator[SpendingLine]:
        begun = {
            self._payee(payment)
            for payment in self.snapshot.payments
            if payment.state not in (PaymentState.DONE, PaymentState.WITHDRAWN)
        }
        for each in self.snapshot.statements:
            paid_minor = max(each.ledger_minor, each.platform_minor or 0)
            left_minor = (each.owed_minor or 0) - paid_minor
            # A payment in progress is already among the ledger's lines.
            if left_minor > 0 and each.payee not in begun:
                yield self._line(each.payee, OWED, left_minor, standing=Standing.TO_BE_PAID)

    def _line(
        self,
        payee: str,
        kind: str,
        amount_minor: int,
        *,
        by: str = "",
        standing: Standing,
        places: int = 1,
        at: str = "",
    ) -> SpendingLine:
        is_bonus = kind == PaymentKind.BONUS
        # A bonus has the same fee whatever the offer was.
        audience = Audience() if is_bonus else task_of(self.study, not_again=()).audience
        charge = Charge(amount_minor, 1, 1 if is_bonus else places)
        return SpendingLine(
            run=self.run.ref,
            study=self.run.study,
            funder=self.study.payment.funder,
            platform=self.run.recruiter,
            payee=payee,
            kind=kind,
            by=by,
            standing=standing,
            amount_minor=amount_minor,
            fee_minor=self.platform.fees_minor([charge], audience),
            currency=self.run.currency,
            at=at,
        )

    def _payee(self, payment: Payment) -> str:
        if is_forgotten(payment.worker_id):
            return FORGOTTEN
        return self.snapshot.ref(payment.participant_id, NOBODY)

    def _stated(self, assignment: Assignment) -> int:
        rewards = self.snapshot.platform_rewards
        reward_minor = rewards.get(assignment.hit_id or 0, self.study.reward_minor)
        return stated_minor(assignment, reward_minor, self.study.screen_out_minor)

    def _places(self, assignment_id: str | None) -> int:
        """Return the number of places of an assignment's offer."""
        hits: dict[int, Hit] = {hit.id: hit for hit in self.snapshot.hits}
        offers = {a.platform_id: hits.get(a.hit_id or 0) for a in self.snapshot.assignments}
        offer = offers.get(assignment_id or "")
        return offer.places if offer is not None else 1


def _counts(payment: Payment) -> bool:
    never = payment.state == PaymentState.WITHDRAWN or payment.kind == PaymentKind.REJECTION
    return not never


COLUMNS = (*(each.name for each in fields(SpendingLine)), "total_minor")
ROUNDING = (
    "Amounts are whole minor units, as they were paid. The fee of each payment is what the "
    "platform asks for that payment alone, rounded up to a whole minor unit as the platform "
    "rounds it. Totals are sums of these; nothing is rounded again, and nothing is converted."
)


@dataclass(frozen=True, slots=True)
class Total:
    """The spending of one run.

    Attributes:
        funder: The funder.
        study: The study.
        run: The run.
        platform: The platform.
        currency: The currency of every amount, in minor units.
        spent_minor: The payees' amounts, by the kind of payment.
        elsewhere_minor: The part paid by hand, or by the platform automatically.
        fees_minor: The platform's fees on the payments.
        doubtful_minor: Payments that may have been made, without fees.
        owed_minor: The amount still to be paid, without fees.
    """

    funder: str
    study: str
    run: str
    platform: str
    currency: str
    spent_minor: dict[str, int]
    elsewhere_minor: int
    fees_minor: int
    doubtful_minor: int
    owed_minor: int

    @property
    def total_minor(self) -> int:
        """The amount the platform took: payments and fees."""
        return sum(self.spent_minor.values()) + self.fees_minor


def totals(lines: Iterable[SpendingLine]) -> list[Total]:
    """Return the total of each run, ordered by funder, study and run."""
    of_run = defaultdict[tuple[str, str, str, str, str], list[SpendingLine]](list)
    for line in lines:
        of_run[line.funder, line.study, line.run, line.platform, line.currency].append(line)
    return [_total(key, of_run[key]) for key in sorted(of_run)]


def _total(key: tuple[str, str, str, str, str], lines: Sequence[SpendingLine]) -> Total:
    spent = [line for line in lines if line.is_spent]
    kinds = dict.fromkeys(sorted({line.kind for line in spent}), 0)
    for line in spent:
        kinds[line.kind] += line.amount_minor
    return Total(
        *key,
        spent_minor=kinds,
        elsewhere_minor=sum(each.amount_minor for each in spent if each.by == "elsewhere"),
        fees_minor=sum(each.fee_minor for each in spent),
        doubtful_minor=_sum(lines, Standing.IN_DOUBT),
        owed_minor=_sum(lines, Standing.TO_BE_PAID),
    )


def _sum(lines: Iterable[SpendingLine], standing: Standing) -> int:
    return sum(line.amount_minor for line in lines if line.standing is standing)


def by_funder(found: Iterable[Total]) -> dict[tuple[str, str], int]:
    """Return the spending with fees, by funder and currency."""
    sums = defaultdict[tuple[str, str], int](int)
    for each in found:
        sums[each.funder, each.currency] += each.total_minor
    return dict(sums)


def as_csv(lines: Iterable[SpendingLine]) -> str:
    """Return the lines as CSV, with a header."""
    return safe_csv(COLUMNS, ([getattr(line, column) for column in COLUMNS] for line in lines))


def as_page(lines: Sequence[SpendingLine], made_at: datetime) -> str:
    """Return a printable HTML page: totals, then every payee to whom money is owed."""
    found = totals(lines)
    return _template().render(
        totals=found,
        funders=by_funder(found),
        owed=[each for each in lines if each.standing is Standing.TO_BE_PAID],
        doubtful=[each for each in lines if each.standing is Standing.IN_DOUBT],
        missing=[each for each in lines if each.standing is Standing.NOT_IN_THE_LEDGER],
        in_words=in_words,
        made_at=made_at,
        rounding=ROUNDING,
        owed_kind=OWED,
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("webapp"), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("statement.html")
