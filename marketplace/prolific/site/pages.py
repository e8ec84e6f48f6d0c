"""Shared code of all pages: sign-in, answers as page or JSON, headers."""

import re
from collections.abc import Mapping
from typing import Any

from flask import (
    Blueprint,
    Response,
    jsonify,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from flask import (
    session as cookie,
)
from sqlalchemy import select

from marketplace.prolific.errors import ParticipantRefusedError
from marketplace.prolific.people import Participant
from marketplace.prolific.store import Moment, Store
from marketplace.prolific.tables import is_id, new_id

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
