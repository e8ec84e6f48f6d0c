"""The presentation of a statement: its totals, its CSV and a printable page."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from experiment.money import in_words
from experiment.tables.files import safe_csv
from webapp.payments.spending.lines import OWED, SpendingLine, Standing

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
