"""Pages for taking part: the list of studies, a submission, its completion, the history."""

from typing import Any

from flask import Blueprint, Response, make_response, redirect, request, url_for
from sqlalchemy import func, select

from marketplace.prolific.arrivals import study_address
from marketplace.prolific.money import taken
from marketplace.prolific.participation import (
    complete_own,
    enter_code,
    give_back_own,
    open_studies,
    open_study,
    own_submission,
    take,
)
from marketplace.prolific.people import Message, Participant
from marketplace.prolific.site.pages import answer, signed_in
from marketplace.prolific.store import Moment, Store
from marketplace.prolific.tables import Payment, Study, Submission

_SHOWN = 200


def add_submission_pages(site: Blueprint, store: Store) -> None:
    """Add the list of studies and the submission pages."""

    @site.get("/studies")
    def studies() -> Response:
        with store.moment() as moment:
            found = open_studies(moment, signed_in(moment))
            return answer("studies.html", {"studies": [_study(moment, each) for each in found]})

    @site.post("/studies/<ref>/take")
    def take_one(ref: str) -> Response:
        with store.moment() as moment:
            made = take(moment, signed_in(moment), ref)
            where = url_for("prolific_site.submission", ref=made.ref)
        return make_response(redirect(where, 303))

    @site.get("/submissions/<ref>")
    def submission(ref: str) -> Response:
        with store.moment() as moment:
            found = own_submission(moment, signed_in(moment), ref)
            return answer("submission.html", {"submission": _submission(moment, found)})

    @site.post("/submissions/<ref>/open")
    def open_one(ref: str) -> Response:
        with store.moment() as moment:
            found = own_submission(moment, signed_in(moment), ref)
            open_study(moment, found)
            where = study_address(moment, found)
        return make_response(redirect(where, 303))

    @site.get("/submissions/complete")
    def complete_by_link() -> Response:
        with store.moment() as moment:
            found = enter_code(moment, signed_in(moment), request.args.get("cc", ""))
            return answer("submission.html", {"submission": _submission(moment, found)})

    @site.post("/submissions/<ref>/complete")
    def complete_one(ref: str) -> Response:
        with store.moment() as moment:
            found = own_submission(moment, signed_in(moment), ref)
            complete_own(moment, found, request.form.get("code", "").strip())
            return answer("submission.html", {"submission": _submission(moment, found)})

    @site.post("/submissions/<ref>/return")
    def return_one(ref: str) -> Response:
        with store.moment() as moment:
            give_back_own(moment, own_submission(moment, signed_in(moment), ref))
        return make_response(redirect(url_for("prolific_site.history"), 303))


def add_own_page(site: Blueprint, store: Store) -> None:
    """Add the page of a participant's history, earnings and messages."""

    @site.get("/history")
    def history() -> Response:
        with store.moment() as moment:
            participant = signed_in(moment)
            own = (
                select(Submission)
                .where(Submission.participant == participant.ref)
                .order_by(Submission.id.desc())
                .limit(_SHOWN)
            )
            found = [_submission(moment, each) for each in moment.session.scalars(own)]
            facts = {"submissions": found, "messages": _messages(moment, participant)}
            return answer("history.html", facts)


def _study(moment: Moment, study: Study) -> dict[str, Any]:
    fields = study.fields
    return {
        "study_id": study.ref,
        "name": fields["name"],
        "description": fields["description"],
        "reward_minor": study.reward,
        "currency": moment.account.currency,
        "minutes": fields["estimated_completion_time"],
        "places_left": study.places - taken(moment.session, study),
        "devices": fields["device_compatibility"],
    }


def _submission(moment: Moment, found: Submission) -> dict[str, Any]:
    moment.session.flush()
    paid = moment.session.execute(
        select(Payment.kind, func.sum(Payment.amount_minor))
        .where(Payment.submission_id == found.id)
        .group_by(Payment.kind)
    )
    by_kind: dict[str, int] = dict(paid.all())
    bonus = by_kind.pop("bonus", 0)
    return {
        "submission_id": found.ref,
        "study_id": found.study.ref,
        "name": found.study.fields["name"],
        "status": found.status,
        "working": found.status in ("RESERVED", "ACTIVE"),
        "returnable": found.status in ("RESERVED", "ACTIVE", "AWAITING REVIEW"),
        "return_requested": found.return_requested is not None,
        "entered_code": found.entered_code,
        "currency": moment.account.currency,
        "paid_minor": sum(by_kind.values()),
        "bonus_minor": bonus,
    }


def _messages(moment: Moment, participant: Participant) -> list[dict[str, str]]:
    own = (
        select(Message)
        .where(Message.recipient == participant.ref)
        .order_by(Message.id.desc())
        .limit(_SHOWN)
    )
    return [
        {"body": each.body, "sent_at": each.sent_at.isoformat()}
        for each in moment.session.scalars(own)
    ]
