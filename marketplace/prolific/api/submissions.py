"""Calls about submissions (list, show, review, approve in bulk) and about bonuses."""

from decimal import Decimal, InvalidOperation
from typing import Any

from flask import request
from sqlalchemy import Select, select

from marketplace.prolific.api.middleware import API, ApiRouter, Reply, create_job, read_json_object
from marketplace.prolific.api.serializers import (
    format_time,
    paginate,
    serialize_submission,
    serialize_submission_summary,
)
from marketplace.prolific.api.studies import find_study
from marketplace.prolific.errors import RefusedError, UnknownError
from marketplace.prolific.money import NO_COST, Cost, cost_of, count_by_status, refuse_overdraft
from marketplace.prolific.store import BonusSetup, Moment, Study, Submission
from marketplace.prolific.submissions import ACTIONS, apply_action, ask_to_return, find_submission

STATUSES = (
    *("ACTIVE", "APPROVED", "AWAITING REVIEW", "REJECTED", "RESERVED", "RETURNED", "TIMED-OUT"),
    *("PARTIALLY APPROVED", "SCREENED OUT"),
)
_MOST_AT_ONCE = 1000


def add_submissions(router: ApiRouter) -> None:
    """Add the calls that list, show and review submissions."""

    @router.on("GET", f"{API}/submissions/", "get-submissions", flat=True)
    def get_submissions(moment: Moment) -> Reply:
        study = find_study(moment, request.args.get("study", ""))
        return 200, _list_submissions(
            moment, select(Submission).where(Submission.study_id == study.id)
        )

    @router.on("GET", f"{API}/studies/<ref>/submissions/", "get-study-submissions", flat=True)
    def get_study_submissions(moment: Moment, ref: str) -> Reply:
        study = find_study(moment, ref)
        return 200, _list_submissions(
            moment, select(Submission).where(Submission.study_id == study.id)
        )

    @router.on(
        "GET", f"{API}/studies/<ref>/submissions/counts/", "count-study-submissions-by-status",
        flat=True,
    )  # fmt: skip
    def count_study_submissions_by_status(moment: Moment, ref: str) -> Reply:
        counts = count_by_status(moment.session, find_study(moment, ref))
        return 200, {
            **{status: counts.get(status, 0) for status in STATUSES},
            "TOTAL": sum(counts.values()),
        }

    @router.on("GET", f"{API}/submissions/<ref>/", "get-submission")
    def get_submission(moment: Moment, ref: str) -> Reply:
        return 200, serialize_submission(moment, find_submission(moment, ref))

    @router.on("POST", f"{API}/submissions/<ref>/transition/", "transition-submission")
    def transition_submission(moment: Moment, ref: str) -> Reply:
        submission, fields = find_submission(moment, ref), read_json_object()
        if fields.get("action") not in ACTIONS:
            raise RefusedError({"action": [f"One of: {', '.join(ACTIONS)}."]})
        apply_action(moment, submission, fields)
        facts = serialize_submission(moment, submission)
        return 200, {name: facts[name] for name in _TRANSITION_FIELDS}

    @router.on("POST", f"{API}/submissions/<ref>/request-return/", "request-submission-return")
    def request_submission_return(moment: Moment, ref: str) -> Reply:
        submission, reasons = (
            find_submission(moment, ref),
            read_json_object().get("request_return_reasons"),
        )
        if not isinstance(reasons, list) or not all(isinstance(r, str) and r for r in reasons):
            raise RefusedError({"request_return_reasons": ["A list of reasons is needed."]})
        ask_to_return(moment, submission, reasons)
        return 200, _serialize_return_request(submission)

    @router.on("POST", f"{API}/submissions/bulk-approve/", "bulk-approve-submissions", flat=True)
    def bulk_approve_submissions(moment: Moment) -> Reply:
        refs = _select_approvable(moment, read_json_object())
        create_job(moment, router, "bulk-approve-submissions", "approve", refs)
        return 200, "The request to bulk approve has been made successfully."


_TRANSITION_FIELDS = (
    *("id", "participant", "status", "study_id", "started_at", "completed_at", "entered_code"),
)


def _serialize_return_request(submission: Submission) -> dict[str, Any]:
    return {
        "id": submission.ref,
        "status": submission.status,
        "participant": submission.participant,
        "return_requested": format_time(submission.return_requested),
    }


def _list_submissions(moment: Moment, query: Select[Any]) -> dict[str, Any]:
    status = request.args.get("status", "").upper().replace("_", " ")
    if status:
        query = query.where(Submission.status == status)
    backwards = request.args.get("ordering") == "-started_at"
    order = Submission.id.desc() if backwards else Submission.id
    submissions = moment.session.scalars(query.order_by(order))
    return paginate([serialize_submission_summary(submission) for submission in submissions])


def _select_approvable(moment: Moment, fields: dict[str, Any]) -> list[str]:
    if "submission_ids" in fields:
        refs = [str(ref) for ref in fields["submission_ids"]]
    else:
        study = find_study(moment, str(fields.get("study_id", "")))
        people = [str(ref) for ref in fields.get("participant_ids", [])]
        refs = list(
            moment.session.scalars(
                select(Submission.ref).where(
                    Submission.study_id == study.id, Submission.participant.in_(people)
                )
            )
        )
    if not refs or len(refs) > _MOST_AT_ONCE:
        raise RefusedError({"submission_ids": [f"Between 1 and {_MOST_AT_ONCE} are needed."]})
    submissions = [find_submission(moment, ref) for ref in refs]
    wrong = [
        submission.ref
        for submission in submissions
        if submission.status not in ("AWAITING REVIEW", "APPROVED")
    ]
    if wrong:
        raise RefusedError({"submission_ids": [f"Not awaiting review: {', '.join(wrong)}."]})
    return refs


_MOST_MINOR = 100_000_00


def add_bonuses(router: ApiRouter) -> None:
    """Add the two calls: set up bonuses, and pay them."""

    @router.on("POST", f"{API}/submissions/bonus-payments/", "create-bonus-payments")
    def create_bonus_payments(moment: Moment) -> Reply:
        fields = read_json_object()
        study = find_study(moment, str(fields.get("study_id", "")))
        lines = _parse_bonus_lines(moment, study, fields.get("csv_bonuses"))
        setup = BonusSetup(study=study.ref, lines=lines, created_at=moment.now)
        moment.session.add(setup)
        moment.session.flush()
        return 201, _serialize_setup(moment, setup)

    @router.on("POST", f"{API}/bulk-bonus-payments/<ref>/pay/", "pay-bonus-payments")
    def pay_bonus_payments(moment: Moment, ref: str) -> Reply:
        setup = moment.session.scalar(select(BonusSetup).where(BonusSetup.ref == ref))
        if setup is None:
            raise UnknownError("bulk bonus payment")
        refuse_overdraft(moment, _total_cost(moment, setup).total)
        create_job(moment, router, "pay-bonus-payments", "bonus", [ref])
        return 202, "The bonuses will be paid in the following minutes."


def _parse_bonus_lines(moment: Moment, study: Study, text: object) -> list[tuple[int, int]]:
    if not isinstance(text, str) or not text.strip():
        raise RefusedError({"csv_bonuses": ["Lines of an identifier and an amount are needed."]})
    bonuses, unknown_ids = [], []
    for line in text.strip().splitlines():
        id_, _, amount = line.partition(",")
        submission = _find_study_submission(moment, study, id_.strip())
        if submission is None:
            unknown_ids.append(id_.strip())
        else:
            bonuses.append((submission.id, _parse_minor_units(amount.strip())))
    if unknown_ids:
        raise RefusedError({"csv_bonuses": [f"Not in the study: {', '.join(unknown_ids)}."]})
    return bonuses


def _find_study_submission(moment: Moment, study: Study, id_: str) -> Submission | None:
    query = select(Submission).where(Submission.study_id == study.id)
    submission = moment.session.scalar(query.where(Submission.ref == id_))
    if submission is not None:
        return submission
    of_participant = query.where(Submission.participant == id_).order_by(Submission.id.desc())
    return moment.session.scalars(of_participant).first()


def _parse_minor_units(amount: str) -> int:
    try:
        minor = Decimal(amount) * 100
    except InvalidOperation as error:
        raise RefusedError({"csv_bonuses": [f"{amount!r} is no amount."]}) from error
    if minor != minor.to_integral_value() or not 0 < minor <= _MOST_MINOR:
        raise RefusedError({"csv_bonuses": [f"{amount!r} is no amount that can be paid."]})
    return int(minor)


def _total_cost(moment: Moment, setup: BonusSetup) -> Cost:
    return sum((cost_of(moment.account, amount) for _, amount in setup.lines), NO_COST)


def _serialize_setup(moment: Moment, setup: BonusSetup) -> dict[str, Any]:
    cost = _total_cost(moment, setup)
    return {
        "id": setup.ref,
        "study": setup.study,
        "amount": cost.amount,
        "fees": cost.fee,
        "vat": cost.tax,
        "total_amount": cost.total,
    }
