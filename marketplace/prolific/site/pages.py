"""What all pages share: who is signed in, one set of facts for people and programs, headers."""

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
from marketplace.prolific.store import Moment

_POLICY = (
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'"
)
_COOKIE = "participant"


def answer(template: str, facts: Mapping[str, Any], status: int = 200) -> Response:
    """Return a page of the facts, or the facts as JSON to a program that asks for it."""
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
    """Return the participant who is signed in.

    Raises:
        ParticipantRefusedError: Nobody is.
    """
    ref = str(cookie.get(_COOKIE, ""))
    found = moment.session.scalar(select(Participant).where(Participant.ref == ref))
    if found is None:
        raise ParticipantRefusedError("signed_out", "Please sign in first.", status=401)
    return found


def money(minor: int, currency: str) -> str:
    """Return minor units as participants read them."""
    sign = {"GBP": "£", "USD": "$"}.get(currency, f"{currency} ")
    return f"{sign}{minor // 100}.{minor % 100:02}"


def add_page_manners(site: Blueprint) -> None:
    """Answer refusals as pages, and give every page its headers."""
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
