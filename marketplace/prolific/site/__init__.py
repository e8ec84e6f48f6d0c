"""The participants' site: find studies, take a place, open, complete and track submissions."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from flask import (
    Blueprint,
    Response,
    jsonify,
    make_response,
    redirect,
    render_template,
    request,
    send_from_directory,
    url_for,
)
from flask import (
    session as cookie,
)
from sqlalchemy import func, select

from marketplace.prolific.errors import ParticipantRefusedError
from marketplace.prolific.money import count_taken_places
from marketplace.prolific.participation import (
    build_study_url,
    complete_submission,
    enter_code,
    find_own_submission,
    open_studies,
    open_study,
    return_submission,
    take_place,
)
from marketplace.prolific.people import Message, Participant
from marketplace.prolific.store import Moment, Payment, Store, Study, Submission, is_id, new_id

# The stylesheet of every stand-in.
_STATIC_FOLDER = Path(__file__).parents[2] / "static"


def create_participant_site(store: Store, done: Callable[[], None]) -> Blueprint:
    """Return the blueprint of the participants' pages.

    Args:
        store: The stand-in's state.
        done: Called after each change.
    """
    site = Blueprint("prolific_site", __name__, template_folder="templates")
    add_page_handlers(site)

    @site.get("/site/pages.css")
    def style() -> Response:
        return send_from_directory(_STATIC_FOLDER, "pages.css")

    @site.after_request
    def report_change(response: Response) -> Response:
        done()
        return make_response(response)

    add_sign_in_pages(site, store)
    add_submission_pages(site, store)
    add_own_page(site, store)
    return site


_POLICY = (
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'"
)
_COOKIE = "participant"
# The sign-in page must not redirect to another site.
_OWN_PATH = re.compile(r"/(?![/\\])[\w/.?=&%~-]*")
_DEVICES = ("desktop", "tablet", "mobile")


def render_facts(template: str, facts: Mapping[str, Any], status: int = 200) -> Response:
    """Return the facts as a page, or as JSON if a program asks for JSON."""
    if _asks_for_json():
        return make_response(jsonify(facts), status)
    page = render_template(f"prolific/{template}", participant=cookie.get(_COOKIE), **facts)
    return make_response(page, status)


def _asks_for_json() -> bool:
    media_type = request.accept_mimetypes.best_match(["text/html", "application/json"])
    return media_type == "application/json"


def sign_participant_in(participant: Participant) -> None:
    """Sign a participant in."""
    cookie[_COOKIE] = participant.ref


def sign_participant_out() -> None:
    """Sign the participant out."""
    cookie.clear()


def require_participant(moment: Moment) -> Participant:
    """Return the signed-in participant.

    Raises:
        ParticipantRefusedError: No participant is signed in.
    """
    ref = str(cookie.get(_COOKIE, ""))
    participant = moment.session.scalar(select(Participant).where(Participant.ref == ref))
    if participant is None:
        raise ParticipantRefusedError("signed_out", "Please sign in first.", status=401)
    return participant


def format_money(minor: int, currency: str) -> str:
    """Return minor units in the format that participants see."""
    sign = {"GBP": "£", "USD": "$"}.get(currency, f"{currency} ")
    return f"{sign}{minor // 100}.{minor % 100:02}"


def add_page_handlers(site: Blueprint) -> None:
    """Show refusals as pages, and set the headers of every page."""
    site.register_error_handler(ParticipantRefusedError, _show_refusal)
    site.after_request(_add_headers)
    site.add_app_template_filter(format_money, "minor_money")


def _show_refusal(error: ParticipantRefusedError) -> Response:
    if error.code == "signed_out" and request.method == "GET" and not _asks_for_json():
        return make_response(
            redirect(url_for("prolific_site.sign_in", next=request.full_path), 303)
        )
    return render_facts(
        "refused.html", {"code": error.code, "problem": error.problem}, error.status
    )


def _add_headers(response: Response) -> Response:
    response.headers["Content-Security-Policy"] = _POLICY
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers.setdefault("Cache-Control", "no-store")
    return response


def add_sign_in_pages(site: Blueprint, store: Store) -> None:
    """Add the sign-in and sign-out pages."""

    @site.get("/")
    def sign_in() -> Response:
        next_url = request.args.get("next", "")
        facts = {"next": next_url if _OWN_PATH.fullmatch(next_url) else "", "proposed": new_id()}
        return render_facts("sign_in.html", facts)

    @site.post("/signin")
    def sign_in_now() -> Response:
        form = request.form
        ref, age = form.get("participant_id", ""), form.get("age") or "30"
        device, country = form.get("device") or "desktop", form.get("country") or "GB"
        if not (is_id(ref) and age.isdecimal() and len(age) < 4 and device in _DEVICES):
            raise ParticipantRefusedError(
                "no_id", "A participant ID has 24 hexadecimal digits.", status=400
            )
        with store.moment() as moment:
            participant = moment.session.scalar(select(Participant).where(Participant.ref == ref))
            participant = participant or Participant(ref=ref)
            participant.age, participant.device, participant.country = (
                int(age),
                device,
                country[:2].upper(),
            )
            moment.session.add(participant)
            sign_participant_in(participant)
        next_url = form.get("next", "")
        home = next_url if _OWN_PATH.fullmatch(next_url) else url_for("prolific_site.studies")
        return make_response(redirect(home, 303))

    @site.post("/signout")
    def sign_out() -> Response:
        sign_participant_out()
        return make_response(redirect(url_for("prolific_site.sign_in"), 303))


_MOST_SHOWN = 200


def add_submission_pages(site: Blueprint, store: Store) -> None:
    """Add the list of studies and the submission pages."""

    @site.get("/studies")
    def studies() -> Response:
        with store.moment() as moment:
            open_now = open_studies(moment, require_participant(moment))
            return render_facts(
                "studies.html", {"studies": [_study_facts(moment, study) for study in open_now]}
            )

    @site.post("/studies/<ref>/take")
    def take_one(ref: str) -> Response:
        with store.moment() as moment:
            new_submission = take_place(moment, require_participant(moment), ref)
            submission_url = url_for("prolific_site.submission", ref=new_submission.ref)
        return make_response(redirect(submission_url, 303))

    @site.get("/submissions/<ref>")
    def submission(ref: str) -> Response:
        with store.moment() as moment:
            own_submission = find_own_submission(moment, require_participant(moment), ref)
            return render_facts(
                "submission.html", {"submission": _submission_facts(moment, own_submission)}
            )

    @site.post("/submissions/<ref>/open")
    def open_one(ref: str) -> Response:
        with store.moment() as moment:
            own_submission = find_own_submission(moment, require_participant(moment), ref)
            open_study(moment, own_submission)
            study_url = build_study_url(moment, own_submission)
        return make_response(redirect(study_url, 303))

    @site.get("/submissions/complete")
    def complete_by_link() -> Response:
        with store.moment() as moment:
            own_submission = enter_code(
                moment, require_participant(moment), request.args.get("cc", "")
            )
            return render_facts(
                "submission.html", {"submission": _submission_facts(moment, own_submission)}
            )

    @site.post("/submissions/<ref>/complete")
    def complete_one(ref: str) -> Response:
        with store.moment() as moment:
            own_submission = find_own_submission(moment, require_participant(moment), ref)
            complete_submission(moment, own_submission, request.form.get("code", "").strip())
            return render_facts(
                "submission.html", {"submission": _submission_facts(moment, own_submission)}
            )

    @site.post("/submissions/<ref>/return")
    def return_one(ref: str) -> Response:
        with store.moment() as moment:
            return_submission(moment, find_own_submission(moment, require_participant(moment), ref))
        return make_response(redirect(url_for("prolific_site.history"), 303))


def add_own_page(site: Blueprint, store: Store) -> None:
    """Add the page of a participant's history, earnings and messages."""

    @site.get("/history")
    def history() -> Response:
        with store.moment() as moment:
            participant = require_participant(moment)
            query = (
                select(Submission)
                .where(Submission.participant == participant.ref)
                .order_by(Submission.id.desc())
                .limit(_MOST_SHOWN)
            )
            submissions = [
                _submission_facts(moment, submission)
                for submission in moment.session.scalars(query)
            ]
            facts = {"submissions": submissions, "messages": _list_messages(moment, participant)}
            return render_facts("history.html", facts)


def _study_facts(moment: Moment, study: Study) -> dict[str, Any]:
    fields = study.fields
    return {
        "study_id": study.ref,
        "name": fields["name"],
        "description": fields["description"],
        "reward_minor": study.reward,
        "currency": moment.account.currency,
        "minutes": fields["estimated_completion_time"],
        "places_left": study.places - count_taken_places(moment.session, study),
        "devices": fields["device_compatibility"],
    }


def _submission_facts(moment: Moment, submission: Submission) -> dict[str, Any]:
    moment.session.flush()
    paid = moment.session.execute(
        select(Payment.kind, func.sum(Payment.amount_minor))
        .where(Payment.submission_id == submission.id)
        .group_by(Payment.kind)
    )
    by_kind: dict[str, int] = dict(paid.all())
    bonus = by_kind.pop("bonus", 0)
    return {
        "submission_id": submission.ref,
        "study_id": submission.study.ref,
        "name": submission.study.fields["name"],
        "status": submission.status,
        "working": submission.status in ("RESERVED", "ACTIVE"),
        "returnable": submission.status in ("RESERVED", "ACTIVE", "AWAITING REVIEW"),
        "return_requested": submission.return_requested is not None,
        "entered_code": submission.entered_code,
        "currency": moment.account.currency,
        "paid_minor": sum(by_kind.values()),
        "bonus_minor": bonus,
    }


def _list_messages(moment: Moment, participant: Participant) -> list[dict[str, str]]:
    query = (
        select(Message)
        .where(Message.recipient == participant.ref)
        .order_by(Message.id.desc())
        .limit(_MOST_SHOWN)
    )
    return [
        {"body": message.body, "sent_at": message.sent_at.isoformat()}
        for message in moment.session.scalars(query)
    ]
