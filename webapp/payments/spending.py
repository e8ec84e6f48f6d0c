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
from webapp.payments.ledger import load_payments
from webapp.payments.platform_payments import IDENTIFIED_AS_PAID
from webapp.payments.reconciliation.payment_checks import (
    find_unrecorded_bonuses,
    find_unrecorded_decisions,
)
from webapp.payments.reconciliation.snapshot import PaymentSnapshot
from webapp.payments.reconciliation.statement import compute_platform_pay_minor
from webapp.recruiters.platform import Audience, Platform
from webapp.recruitment.terms import build_task

NOBODY, FORGOTTEN = "(no participant)", "(forgotten)"
OWED = "owed"
_DOUBTFUL_STATES = (PaymentState.CALLING, PaymentState.ORDERED, PaymentState.UNKNOWN)


class SpendingStatus(StrEnum):
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
    standing: SpendingStatus
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
        return self.standing in (SpendingStatus.PAID, SpendingStatus.NOT_IN_THE_LEDGER)


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
    snapshot: PaymentSnapshot

    def lines(self) -> Iterator[SpendingLine]:
        """Yield the ledger's lines, payments that only the platform shows, and debts.

        Raises:
            PlatformError: The platform cannot be asked for its fees.
        """
        with reading(self.sessions) as session:
            ledger = load_payments(session, self.run)
        for payment in ledger:
            if payment.amount_minor and _is_spending(payment):
                yield self._build_ledger_line(payment)
        yield from self._list_platform_only_lines()
        yield from self._list_debts()

    def _build_ledger_line(self, payment: Payment) -> SpendingLine:
        is_done = payment.state == PaymentState.DONE
        is_doubtful = payment.state in _DOUBTFUL_STATES
        is_elsewhere = is_done and (
            payment.called_at is None or payment.answer == IDENTIFIED_AS_PAID
        )
        return self._build_line(
            self._get_payee(payment),
            payment.kind,
            payment.amount_minor,
            by="elsewhere" if is_elsewhere else "parallax",
            standing=SpendingStatus.PAID
            if is_done
            else SpendingStatus.IN_DOUBT
            if is_doubtful
            else SpendingStatus.TO_BE_PAID,
            places=self._count_places(payment.assignment),
            at=payment.settled_at.isoformat() if is_done and payment.settled_at else "",
        )

    def _list_platform_only_lines(self) -> Iterator[SpendingLine]:
        status = SpendingStatus.NOT_IN_THE_LEDGER
        for assignment, kind, _ in find_unrecorded_decisions(self.snapshot):
            amount_minor = self._compute_platform_pay(assignment)
            if kind != PaymentKind.REJECTION and amount_minor:
                payee = self.snapshot.ref(assignment.participant_id, NOBODY)
                places = self._count_places(assignment.platform_id)
                yield self._build_line(
                    payee, kind, amount_minor, by="elsewhere", standing=status, places=places
                )
        for bonus, item in find_unrecorded_bonuses(self.snapshot):
            participant_id = self.snapshot.participant_of(bonus.assignment_id)
            payee = self.snapshot.ref(participant_id, NOBODY)
            yield self._build_line(
                payee, item.kind, bonus.amount_minor, by="elsewhere", standing=status
            )

    def _list_debts(self) -> Iterator[SpendingLine]:
        payees_in_progress = {
            self._get_payee(payment)
            for payment in self.snapshot.payments
            if payment.state not in (PaymentState.DONE, PaymentState.WITHDRAWN)
        }
        for statement in self.snapshot.statements:
            paid_minor = max(statement.ledger_minor, statement.platform_minor or 0)
            remaining_minor = (statement.owed_minor or 0) - paid_minor
            # A payment in progress is already among the ledger's lines.
            if remaining_minor > 0 and statement.payee not in payees_in_progress:
                yield self._build_line(
                    statement.payee, OWED, remaining_minor, standing=SpendingStatus.TO_BE_PAID
                )

    def _build_line(
        self,
        payee: str,
        kind: str,
        amount_minor: int,
        *,
        by: str = "",
        standing: SpendingStatus,
        places: int = 1,
        at: str = "",
    ) -> SpendingLine:
        is_bonus = kind == PaymentKind.BONUS
        # A bonus has the same fee whatever the offer was.
        audience = Audience() if is_bonus else build_task(self.study, not_again=()).audience
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

    def _get_payee(self, payment: Payment) -> str:
        if is_forgotten(payment.worker_id):
            return FORGOTTEN
        return self.snapshot.ref(payment.participant_id, NOBODY)

    def _compute_platform_pay(self, assignment: Assignment) -> int:
        rewards = self.snapshot.platform_rewards
        reward_minor = rewards.get(assignment.hit_id or 0, self.study.reward_minor)
        return compute_platform_pay_minor(assignment, reward_minor, self.study.screen_out_minor)

    def _count_places(self, assignment_id: str | None) -> int:
        """Return the number of places of an assignment's offer."""
        hits: dict[int, Hit] = {hit.id: hit for hit in self.snapshot.hits}
        offers = {a.platform_id: hits.get(a.hit_id or 0) for a in self.snapshot.assignments}
        offer = offers.get(assignment_id or "")
        return offer.places if offer is not None else 1


def _is_spending(payment: Payment) -> bool:
    is_excluded = payment.state == PaymentState.WITHDRAWN or payment.kind == PaymentKind.REJECTION
    return not is_excluded


CSV_COLUMNS = (*(field.name for field in fields(SpendingLine)), "total_minor")
ROUNDING_NOTE = (
    "Amounts are in whole minor units, as paid. Each payment's fee is the platform's fee "
    "for that payment alone, rounded up to a whole minor unit as the platform rounds it. Totals "
    "are plain sums, without further rounding or currency conversion."
)


@dataclass(frozen=True, slots=True)
class RunTotal:
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


def compute_totals(lines: Iterable[SpendingLine]) -> list[RunTotal]:
    """Return the total of each run, ordered by funder, study and run."""
    lines_by_run = defaultdict[tuple[str, str, str, str, str], list[SpendingLine]](list)
    for line in lines:
        lines_by_run[line.funder, line.study, line.run, line.platform, line.currency].append(line)
    return [_compute_total(key, lines_by_run[key]) for key in sorted(lines_by_run)]


def _compute_total(key: tuple[str, str, str, str, str], lines: Sequence[SpendingLine]) -> RunTotal:
    spent = [line for line in lines if line.is_spent]
    kinds = dict.fromkeys(sorted({line.kind for line in spent}), 0)
    for line in spent:
        kinds[line.kind] += line.amount_minor
    return RunTotal(
        *key,
        spent_minor=kinds,
        elsewhere_minor=sum(payment.amount_minor for payment in spent if payment.by == "elsewhere"),
        fees_minor=sum(payment.fee_minor for payment in spent),
        doubtful_minor=_sum_amounts(lines, SpendingStatus.IN_DOUBT),
        owed_minor=_sum_amounts(lines, SpendingStatus.TO_BE_PAID),
    )


def _sum_amounts(lines: Iterable[SpendingLine], standing: SpendingStatus) -> int:
    return sum(line.amount_minor for line in lines if line.standing is standing)


def sum_by_funder(run_totals: Iterable[RunTotal]) -> dict[tuple[str, str], int]:
    """Return the spending with fees, by funder and currency."""
    sums = defaultdict[tuple[str, str], int](int)
    for run_total in run_totals:
        sums[run_total.funder, run_total.currency] += run_total.total_minor
    return dict(sums)


def lines_to_csv(lines: Iterable[SpendingLine]) -> str:
    """Return the lines as CSV, with a header."""
    return safe_csv(
        CSV_COLUMNS, ([getattr(line, column) for column in CSV_COLUMNS] for line in lines)
    )


def render_page(lines: Sequence[SpendingLine], made_at: datetime) -> str:
    """Return a printable HTML page: totals, then every payee to whom money is owed."""
    run_totals = compute_totals(lines)
    return _load_template().render(
        totals=run_totals,
        funders=sum_by_funder(run_totals),
        owed=[line for line in lines if line.standing is SpendingStatus.TO_BE_PAID],
        doubtful=[line for line in lines if line.standing is SpendingStatus.IN_DOUBT],
        missing=[line for line in lines if line.standing is SpendingStatus.NOT_IN_THE_LEDGER],
        in_words=in_words,
        made_at=made_at,
        rounding=ROUNDING_NOTE,
        owed_kind=OWED,
    )


@cache
def _load_template() -> Template:
    environment = Environment(
        loader=PackageLoader("webapp"), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("statement.html")
