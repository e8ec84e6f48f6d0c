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

from marketplace.prolific.arrivals import study_address
from marketplace.prolific.errors import ParticipantRefusedError
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
from marketplace.prolific.store import Moment, Payment, Store, Study, Submission, is_id, new_id

# The stylesheet of every stand-in.
_SHARED = Path(__file__).parents[2] / "static"


def participant_site(store: Store, done: Callable[[], None]) -> Blueprint:
    """Return the blueprint of the participants' pages.

    Args:
        store: The stand-in's state.
        done: Called after each change.
    """
    site = Blueprint("prolific_site", __name__, template_folder="templates")
    add_page_manners(site)

    @site.get("/site/pages.css")
    def style() -> Response:
        return send_from_directory(_SHARED, "pages.css")

    @site.after_request
    def tell(response: Response) -> Response:
        done()
        return make_response(response)

    add_signing_in(site, store)
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


def answer(template: str, facts: Mapping[str, Any], status: int = 200) -> Response:
    """Return the facts as a page, or as JSON if a program asks for JSON."""
    if _asks_for_json():
        return make_response(jsonify(facts), status)
    page = render_template(f"prolific/{template}", participant=cookie.get(_COOKIE), **facts)
    return make_response(page, status)


def _asks_for_json() -> bool:
    wanted = request.accept_mimetypes.best_match(["text/html", "application/json"])
    return wanted == "application/json"


def remember(participant: Participant) -> None:
    """Sign a participant in."""
    cookie[_COOKIE] = participant.ref


def forget() -> None:
    """Sign the participant out."""
    cookie.clear()


def signed_in(moment: Moment) -> Participant:
    """Return the signed-in participant.

    Raises:
        ParticipantRefusedError: No participant is signed in.
    """
    ref = str(cookie.get(_COOKIE, ""))
    found = moment.session.scalar(select(Participant).where(Participant.ref == ref))
    if found is None:
        raise ParticipantRefusedError("signed_out", "Please sign in first.", status=401)
    return found


def money(minor: int, currency: str) -> str:
    """Return minor units in the format that participants see."""
    sign = {"GBP": "£", "USD": "$"}.get(currency, f"{currency} ")
    return f"{sign}{minor // 100}.{minor % 100:02}"


def add_page_manners(site: Blueprint) -> None:
    """Show refusals as pages, and set the headers of every page."""
    site.register_error_handler(ParticipantRefusedError, _refused)
    site.after_request(_with_headers)
    site.add_app_template_filter(money, "minor_money")


def _refused(error: ParticipantRefusedError) -> Response:
    if error.code == "signed_out" and request.method == "GET" and not _asks_for_json():
        return make_response(
            redirect(url_for("prolific_site.sign_in", next=request.full_path), 303)
        )
    return answer("refused.html", {"code": error.code, "problem": error.problem}, error.status)


def _with_headers(response: Response) -> Response:
    response.headers["Content-Security-Policy"] = _POLICY
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers.setdefault("Cache-Control", "no-store")
    return response


def add_signing_in(site: Blueprint, store: Store) -> None:
    """Add the sign-in and sign-out pages."""

    @site.get("/")
    def sign_in() -> Response:
        wanted = request.args.get("next", "")
        facts = {"next": wanted if _OWN_PATH.fullmatch(wanted) else "", "proposed": new_id()}
        return answer("sign_in.html", facts)

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
            found = moment.session.scalar(select(Participant).where(Participant.ref == ref))
            found = found or Participant(ref=ref)
            found.age, found.device, found.country = int(age), device, country[:2].upper()
            moment.session.add(found)
            remember(found)
        wanted = form.get("next", "")
        home = wanted if _OWN_PATH.fullmatch(wanted) else url_for("prolific_site.studies")
        return make_response(redirect(home, 303))

    @site.post("/signout")
    def sign_out() -> Response:
        forget()
        return make_response(redirect(url_for("prolific_site.sign_in"), 303))


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
