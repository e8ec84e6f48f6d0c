"""Bonuses in two steps: set up, then paid; each further call pays them again."""

from decimal import Decimal, InvalidOperation
from typing import Any

from sqlalchemy import select

from marketplace.prolific.api.middleware import API, Door, Reply, begin_job, given
from marketplace.prolific.api.studies import find_study
from marketplace.prolific.errors import RefusedError, UnknownError
from marketplace.prolific.money import NOTHING, Cost, cost_of, refuse_overdraft
from marketplace.prolific.store import Moment
from marketplace.prolific.tables import BonusSetup, Study, Submission

_MOST_MINOR = 100_000_00


def add_bonuses(door: Door) -> None:
    """Add the two calls: set up bonuses, and pay them."""

    @door.on("POST", f"{API}/submissions/bonus-payments/", "create-bonus-payments")
    def set_up(moment: Moment) -> Reply:
        asked = given()
        study = find_study(moment, str(asked.get("study_id", "")))
        lines = _lines(moment, study, asked.get("csv_bonuses"))
        made = BonusSetup(study=study.ref, lines=lines, created_at=moment.now)
        moment.session.add(made)
        moment.session.flush()
        return 201, _to_api(moment, made)

    @door.on("POST", f"{API}/bulk-bonus-payments/<ref>/pay/", "pay-bonus-payments")
    def pay(moment: Moment, ref: str) -> Reply:
        made = moment.session.scalar(select(BonusSetup).where(BonusSetup.ref == ref))
        if made is None:
            raise UnknownError("bulk bonus payment")
        refuse_overdraft(moment, _cost(moment, made).total)
        begin_job(moment, door, "pay-bonus-payments", "bonus", [ref])
        return 202, "The bonuses will be paid in the following minutes."


def _lines(moment: Moment, study: Study, text: object) -> list[tuple[int, int]]:
    if not isinstance(text, str) or not text.strip():
        raise RefusedError({"csv_bonuses": ["Lines of an identifier and an amount are needed."]})
    found, wrong = [], []
    for line in text.strip().splitlines():
        who, _, amount = line.partition(",")
        submission = _submission(moment, study, who.strip())
        if submission is None:
            wrong.append(who.strip())
        else:
            found.append((submission.id, _minor(amount.strip())))
    if wrong:
        raise RefusedError({"csv_bonuses": [f"Not in the study: {', '.join(wrong)}."]})
    return found


def _submission(moment: Moment, study: Study, who: str) -> Submission | None:
    of = select(Submission).where(Submission.study_id == study.id)
    found = moment.session.scalar(of.where(Submission.ref == who))
    if found is not None:
        return found
    own = of.where(Submission.participant == who).order_by(Submission.id.desc())
    return moment.session.scalars(own).first()


def _minor(amount: str) -> int:
    try:
        minor = Decimal(amount) * 100
    except InvalidOperation as error:
        raise RefusedError({"csv_bonuses": [f"{amount!r} is no amount."]}) from error
    if minor != minor.to_integral_value() or not 0 < minor <= _MOST_MINOR:
        raise RefusedError({"csv_bonuses": [f"{amount!r} is no amount that can be paid."]})
    return int(minor)


def _cost(moment: Moment, made: BonusSetup) -> Cost:
    return sum((cost_of(moment.account, amount) for _, amount in made.lines), NOTHING)


def _to_api(moment: Moment, made: BonusSetup) -> dict[str, Any]:
    cost = _cost(moment, made)
    return {
        "id": made.ref,
        "study": made.study,
        "amount": cost.amount,
        "fees": cost.fee,
        "vat": cost.tax,
        "total_amount": cost.total,
    }
