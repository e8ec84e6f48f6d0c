"""The panels' pages for participants, return addresses, SONA's credit, and the control API."""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime
from xml.sax.saxutils import escape

from flask import Blueprint, Response, redirect, request
from pydantic import BaseModel, ConfigDict

from marketplace.control import (
    FaultPlan,
    close_connection,
    create_control_blueprint,
    json_response,
    read_json_object,
)
from marketplace.errors import MarketplaceError
from marketplace.panels.records import Person, Records, Study


class PanelFaultPlan(FaultPlan):
    """The faults that the panels support."""

    kinds = (
        "throttled",  # 429; the call is not carried out
        "server_error",  # 500; the call is not carried out
        "server_error_after",  # 500, but the call is carried out
        "request_lost",  # the connection closes; the call is not carried out
        "reply_lost",  # the connection closes, but the call is carried out
        "truncated",  # the call is carried out, but only half of the answer arrives
        "slow",  # the answer is delayed
        "unfilled",  # the link's placeholders are not replaced
        "cut_off",  # the end of the link's last id is cut off
    )


_CINT_ENDS = {"10": "completed", "20": "screened_out", "30": "failed_check", "40": "full"}
_NINJA = {"c": "completed", "p": "screened_out", "q": "full", "qua": "failed_check",
          "dup": "duplicate", "s": "security"}  # fmt: skip
COOKIE = "panel_person"


class _Listing(BaseModel):
    model_config = ConfigDict(extra="forbid")
    key: str
    link: str
    person: str
    added: dict[str, str] = {}
    replaced: dict[str, str] = {}
    codes: dict[str, str] = {}
    credit_token: str = ""
    access_codes: list[str] = []


class _Grant(BaseModel):
    model_config = ConfigDict(extra="forbid")
    key: str
    id: str


def create_panel_site(records: Records, faults: PanelFaultPlan) -> Blueprint:
    """Return the blueprint of the pages that send participants to studies and take them back."""
    site = Blueprint("panels", __name__)
    site.register_error_handler(MarketplaceError, _answer_refusal)
    site.register_blueprint(_create_control_blueprint(records, faults))
    site.register_blueprint(create_exit_blueprint(records))

    @site.post("/people")
    def send() -> Response:
        key, name = request.form["study"], request.form["person"]
        link = records.send_person(key, name)
        if faults.draw_fault("arrival", "unfilled"):
            link = records.study(key).link
        elif faults.draw_fault("arrival", "cut_off"):
            link = link[:-1]
        redirect_response = Response(status=303, headers={"Location": link})
        # A real panel knows a browser by its cookie; this cookie also names the study.
        redirect_response.set_cookie(COOKIE, f"{key}/{name}", samesite="Lax")
        return redirect_response

    @site.get("/submissions/complete")
    @site.get("/complete")
    def complete() -> Response:
        return _enter_code(records, request.args.get("cc", ""))

    @site.post("/code")
    def code() -> Response:
        return _enter_code(records, request.form.get("code", ""))

    @site.get("/back/<key>/<outcome>")
    def back(key: str, outcome: str) -> Response:
        _, name, _ = find_visitor(records)
        records.record_return(key, name, outcome)
        return json_response({"outcome": outcome})

    @site.get("/")
    def front() -> Response:
        return redirect("/control/faults")  # type: ignore[return-value]

    return site


def _create_control_blueprint(records: Records, faults: PanelFaultPlan) -> Blueprint:
    control = create_control_blueprint(faults, lambda _seconds: datetime.now(UTC))

    @control.post("/studies")
    def list_study() -> Response:
        listing = _Listing.model_validate(read_json_object())
        records.list_study(Study(**listing.model_dump()))
        return json_response({"key": listing.key})

    @control.get("/books/<key>")
    def books(key: str) -> Response:
        return json_response({"people": records.list_people(key)})

    @control.post("/grants")
    def grant() -> Response:
        # Stands for the researcher granting credit on the panel's own pages.
        requested = _Grant.model_validate(read_json_object())
        person = records.find_person(requested.key, requested.id)
        if person is None:
            raise MarketplaceError(f'nobody is called "{requested.id}" there')
        records.record_return(requested.key, person.name, "completed")
        return json_response({"granted": person.granted})

    return control


def _enter_code(records: Records, code: str) -> Response:
    key, name, _ = find_visitor(records)
    outcome = records.enter_code(key, name, code)
    if not outcome:
        return json_response({"error": "this code is not one of the study's"}, 400)
    return json_response({"outcome": outcome})


def _answer_refusal(error: Exception) -> Response:
    body: Mapping[str, str] = {"error": str(error)}
    return json_response(body, 404)


def create_exit_blueprint(records: Records) -> Blueprint:
    """Return the blueprint of the addresses to which studies send participants back."""
    exits = Blueprint("exits", __name__)

    @exits.get("/s/ClientCallBack.aspx")
    def cint() -> Response:
        _, _, study = find_visitor(records)
        digest = hmac.new(
            study.credit_token.encode(), f"{_remove_query_argument('hash')}&".encode(), "sha1"
        )
        hash_ = base64.urlsafe_b64encode(digest.digest()).decode().rstrip("=")
        return _record_signed_return(
            records, hash_, _CINT_ENDS.get(request.args.get("RIS", "")), "RID"
        )

    @exits.get("/p/exit")
    def sample_ninja() -> Response:
        _, _, study = find_visitor(records)
        address, _, query = _remove_query_argument("hash").partition("?")
        path = "/" + address.split("://", 1)[1].partition("/")[2]
        text = f"{path}?{'&'.join(sorted(query.split('&')))}{study.credit_token}"
        hash_ = hashlib.sha256(text.encode()).hexdigest()
        return _record_signed_return(records, hash_, _NINJA.get(request.args.get("s", "")), "id")

    return exits


def _remove_query_argument(argument: str) -> str:
    """Return the current request's address without one of its query arguments."""
    query = request.query_string.decode("latin-1")
    arguments = [pair for pair in query.split("&") if not pair.startswith(f"{argument}=")]
    return f"{request.base_url}?{'&'.join(arguments)}"


def _record_signed_return(records: Records, hash_: str, outcome: str | None, id_: str) -> Response:
    key, name, study = find_visitor(records)
    person = study.people.get(name)
    if not hmac.compare_digest(hash_, request.args.get("hash", "")):
        return json_response({"error": "the hash is wrong: this way back counts for nothing"}, 403)
    if outcome is None or person is None or request.args.get(id_) != person.id:
        return json_response({"error": "no such status, or nobody of that id was sent"}, 400)
    records.record_return(key, name, outcome)
    return json_response({"outcome": outcome})


def find_visitor(records: Records) -> tuple[str, str, Study]:
    """Return the key of the visitor's study, the visitor's name, and the study.

    Raises:
        MarketplaceError: The browser has no cookie of a visitor.
    """
    key, _, name = request.cookies.get(COOKIE, "").partition("/")
    if not name:
        raise MarketplaceError("nobody is signed in: start from /people")
    return key, name, records.study(key)


_SCHEMA = "http://www.w3.org/2001/XMLSchema-instance"
_OPERATION = "credit"


def create_credit_blueprint(records: Records, faults: PanelFaultPlan) -> Blueprint:
    """Return the blueprint of SONA's two completion addresses."""
    credit = Blueprint("credit", __name__)

    @credit.get("/services/SonaAPI.svc/WebstudyCredit")
    def by_server() -> Response:
        failed = _fail_before(faults)
        if failed is not None:
            return failed
        problem, person = _grant_credit(records)
        text = _granted_xml(person) if person is not None else _refused_xml(problem)
        faults.delay(_OPERATION)
        fault = faults.draw_fault(_OPERATION, "server_error_after", "reply_lost", "truncated")
        if fault is not None and fault.kind == "truncated":
            text = text[: len(text) // 2]
        elif fault is not None:
            if fault.kind == "reply_lost":
                close_connection()
            return Response("Server Error", 500)
        return Response(text, mimetype="text/xml")

    @credit.get("/webstudy_credit.aspx")
    def by_browser() -> Response:
        problem, person = _grant_credit(records)
        if person is None:
            return Response(problem, 200 if "already" in problem else 400)
        return Response("Web study credit successfully granted.")

    return credit


def _grant_credit(records: Records) -> tuple[str, Person | None]:
    """Grant the requested credit; return an error message (or "") and the person (or None)."""
    try:
        study = records.study(request.args.get("experiment_id", ""))
    except MarketplaceError:
        return "Invalid experiment_id or credit_token.", None
    if not _has_credit_token(study):
        return "Invalid experiment_id or credit_token.", None
    person = records.find_person(study.key, request.args.get("survey_code", ""))
    if person is None:
        return "Invalid survey_code.", None
    is_repeated = bool(person.outcomes)
    records.record_return(study.key, person.name, "completed")
    return (
        ("You have already received credit for this study.", None) if is_repeated else ("", person)
    )


def _has_credit_token(study: Study) -> bool:
    token = study.credit_token
    return bool(token) and request.args.get("credit_token") == token


def _fail_before(faults: PanelFaultPlan) -> Response | None:
    fault = faults.draw_fault(_OPERATION, "throttled", "server_error", "request_lost")
    if fault is None:
        return None
    if fault.kind == "request_lost":
        close_connection()
    return Response("Try again.", 429 if fault.kind == "throttled" else 500)


def _granted_xml(person: Person) -> str:
    return (
        f'<WebstudyCreditResponse xmlns:a="sona" xmlns:i="{_SCHEMA}"><WebstudyCreditResult>'
        '<a:Errors i:nil="true"/><a:Result><a:credit_status>G</a:credit_status>'
        f"<a:survey_code>{escape(person.id)}</a:survey_code></a:Result>"
        "</WebstudyCreditResult></WebstudyCreditResponse>"
    )


def _refused_xml(problem: str) -> str:
    return (
        f'<WebstudyCreditResponse xmlns:a="sona" xmlns:i="{_SCHEMA}"><WebstudyCreditResult>'
        f"<a:Errors><a:Error>{escape(problem)}</a:Error></a:Errors>"
        '<a:Result i:nil="true"/></WebstudyCreditResult></WebstudyCreditResponse>'
    )
