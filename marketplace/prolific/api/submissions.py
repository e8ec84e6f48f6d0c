"""Calls about submissions (list, show, review, approve in bulk) and about bonuses."""

from decimal import Decimal, InvalidOperation
from typing import Any

from flask import request
from sqlalchemy import Select, select

from marketplace.prolific.api.middleware import API, Door, Reply, begin_job, given
from marketplace.prolific.api.serializers import page_of, submission, submission_short, time
from marketplace.prolific.api.studies import find_study
from marketplace.prolific.errors import RefusedError, UnknownError
from marketplace.prolific.money import NOTHING, Cost, cost_of, counts, refuse_overdraft
from marketplace.prolific.store import BonusSetup, Moment, Study, Submission
from marketplace.prolific.submissions import ACTIONS, ask_to_return, find, transition

STATUSES = (
    *("ACTIVE", "APPROVED", "AWAITING REVIEW", "REJECTED", "RESERVED", "RETURNED", "TIMED-OUT"),
    *("PARTIALLY APPROVED", "SCREENED OUT"),
)
_MOST_AT_ONCE = 1000


def add_submissions(door: Door) -> None:
    """Add the calls that list, show and review submissions."""

    @door.on("GET", f"{API}/submissions/", "get-submissions", flat=True)
    def listed(moment: Moment) -> Reply:
        study = find_study(moment, request.args.get("study", ""))
        return 200, _listed(moment, select(Submission).where(Submission.study_id == study.id))

    @door.on("GET", f"{API}/studies/<ref>/submissions/", "get-study-submissions", flat=True)
    def of_study(moment: Moment, ref: str) -> Reply:
        study = find_study(moment, ref)
        return 200, _listed(moment, select(Submission).where(Submission.study_id == study.id))

    @door.on(
        "GET", f"{API}/studies/<ref>/submissions/counts/", "count-study-submissions-by-status",
        flat=True,
    )  # fmt: skip
    def counted(moment: Moment, ref: str) -> Reply:
        of = counts(moment.session, find_study(moment, ref))
        return 200, {
            **{status: of.get(status, 0) for status in STATUSES},
            "TOTAL": sum(of.values()),
        }

    @door.on("GET", f"{API}/submissions/<ref>/", "get-submission")
    def shown(moment: Moment, ref: str) -> Reply:
        return 200, submission(moment, find(moment, ref))

    @door.on("POST", f"{API}/submissions/<ref>/transition/", "transition-submission")
    def move(moment: Moment, ref: str) -> Reply:
        found, asked = find(moment, ref), given()
        if asked.get("action") not in ACTIONS:
            raise RefusedError({"action": [f"One of: {', '.join(ACTIONS)}."]})
        transition(moment, found, asked)
        facts = submission(moment, found)
        return 200, {name: facts[name] for name in _SHOWN}

    @door.on("POST", f"{API}/submissions/<ref>/request-return/", "request-submission-return")
    def return_wanted(moment: Moment, ref: str) -> Reply:
        found, reasons = find(moment, ref), given().get("request_return_reasons")
        if not isinstance(reasons, list) or not all(isinstance(r, str) and r for r in reasons):
            raise RefusedError({"request_return_reasons": ["A list of reasons is needed."]})
        ask_to_return(moment, found, reasons)
        return 200, {
            "id": found.ref,
            "status": found.status,
            "participant": found.participant,
            "return_requested": time(found.return_requested),
        }

    @door.on("POST", f"{API}/submissions/bulk-approve/", "bulk-approve-submissions", flat=True)
    def approve_many(moment: Moment) -> Reply:
        refs = _approvable(moment, given())
        begin_job(moment, door, "bulk-approve-submissions", "approve", refs)
        return 200, "The request to bulk approve has been made successfully."


_SHOWN = (
    *("id", "participant", "status", "study_id", "started_at", "completed_at", "entered_code"),
)


def _listed(moment: Moment, wanted: Select[Any]) -> dict[str, Any]:
    status = request.args.get("status", "").upper().replace("_", " ")
    if status:
        wanted = wanted.where(Submission.status == status)
    backwards = request.args.get("ordering") == "-started_at"
    order = Submission.id.desc() if backwards else Submission.id
    found = moment.session.scalars(wanted.order_by(order))
    return page_of([submission_short(each) for each in found])


def _approvable(moment: Moment, asked: dict[str, Any]) -> list[str]:
    if "submission_ids" in asked:
        refs = [str(ref) for ref in asked["submission_ids"]]
    else:
        study = find_study(moment, str(asked.get("study_id", "")))
        people = [str(ref) for ref in asked.get("participant_ids", [])]
        refs = list(
            moment.session.scalars(
                select(Submission.ref).where(
                    Submission.study_id == study.id, Submission.participant.in_(people)
                )
            )
        )
    if not refs or len(refs) > _MOST_AT_ONCE:
        raise RefusedError({"submission_ids": [f"Between 1 and {_MOST_AT_ONCE} are needed."]})
    found = [find(moment, ref) for ref in refs]
    wrong = [each.ref for each in found if each.status not in ("AWAITING REVIEW", "APPROVED")]
    if wrong:
        raise RefusedError({"submission_ids": [f"Not awaiting review: {', '.join(wrong)}."]})
    return refs


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
