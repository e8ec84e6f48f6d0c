"""The panels' pages for participants, return addresses, SONA's credit, and the control API."""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime
from xml.sax.saxutils import escape

from flask import Blueprint, Response, redirect, request
from pydantic import BaseModel, ConfigDict

from marketplace.control import answer, given, shared_control
from marketplace.errors import MarketplaceError
from marketplace.faults import FaultPlan, hang_up
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


_CINT = {"10": "completed", "20": "screened_out", "30": "failed_check", "40": "full"}
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


def panel_site(records: Records, faults: PanelFaultPlan) -> Blueprint:
    """Return the blueprint of the pages that send participants to studies and take them back."""
    site = Blueprint("panels", __name__)
    site.register_error_handler(MarketplaceError, _refused)
    site.register_blueprint(_control(records, faults))
    site.register_blueprint(exit_doors(records))

    @site.post("/people")
    def send() -> Response:
        key, name = request.form["study"], request.form["person"]
        link = records.send(key, name)
        if faults.strike("arrival", "unfilled"):
            link = records.study(key).link
        elif faults.strike("arrival", "cut_off"):
            link = link[:-1]
        sent = Response(status=303, headers={"Location": link})
        # A real panel knows a browser by its cookie; this cookie also names the study.
        sent.set_cookie(COOKIE, f"{key}/{name}", samesite="Lax")
        return sent

    @site.get("/submissions/complete")
    @site.get("/complete")
    def complete() -> Response:
        return _entered(records, request.args.get("cc", ""))

    @site.post("/code")
    def code() -> Response:
        return _entered(records, request.form.get("code", ""))

    @site.get("/back/<key>/<outcome>")
    def back(key: str, outcome: str) -> Response:
        _, name, _ = visitor(records)
        records.take_back(key, name, outcome)
        return answer({"outcome": outcome})

    @site.get("/")
    def front() -> Response:
        return redirect("/control/faults")  # type: ignore[return-value]

    return site


def _control(records: Records, faults: PanelFaultPlan) -> Blueprint:
    door = shared_control(faults, lambda _seconds: datetime.now(UTC))

    @door.post("/studies")
    def list_study() -> Response:
        wanted = _Listing.model_validate(given())
        records.list_study(Study(**wanted.model_dump()))
        return answer({"key": wanted.key})

    @door.get("/books/<key>")
    def books(key: str) -> Response:
        return answer({"people": records.books(key)})

    @door.post("/grants")
    def grant() -> Response:
        # Stands for the researcher granting credit on the panel's own pages.
        wanted = _Grant.model_validate(given())
        person = records.person_by_id(wanted.key, wanted.id)
        if person is None:
            raise MarketplaceError(f'nobody is called "{wanted.id}" there')
        records.take_back(wanted.key, person.name, "completed")
        return answer({"granted": person.granted})

    return door


def _entered(records: Records, code: str) -> Response:
    key, name, _ = visitor(records)
    outcome = records.enter_code(key, name, code)
    if not outcome:
        return answer({"error": "this code is not one of the study's"}, 400)
    return answer({"outcome": outcome})


def _refused(error: Exception) -> Response:
    body: Mapping[str, str] = {"error": str(error)}
    return answer(body, 404)


def exit_doors(records: Records) -> Blueprint:
    """Return the blueprint of the addresses to which studies send participants back."""
    doors = Blueprint("exits", __name__)

    @doors.get("/s/ClientCallBack.aspx")
    def cint() -> Response:
        _, _, study = visitor(records)
        made = hmac.new(study.credit_token.encode(), f"{_before('hash')}&".encode(), "sha1")
        hash_ = base64.urlsafe_b64encode(made.digest()).decode().rstrip("=")
        return _taken(records, hash_, _CINT.get(request.args.get("RIS", "")), "RID")

    @doors.get("/p/exit")
    def sample_ninja() -> Response:
        _, _, study = visitor(records)
        address, _, query = _before("hash").partition("?")
        path = "/" + address.split("://", 1)[1].partition("/")[2]
        text = f"{path}?{'&'.join(sorted(query.split('&')))}{study.credit_token}"
        hash_ = hashlib.sha256(text.encode()).hexdigest()
        return _taken(records, hash_, _NINJA.get(request.args.get("s", "")), "id")

    return doors


def _before(argument: str) -> str:
    """Return the current request's address without one of its query arguments."""
    query = request.query_string.decode("latin-1")
    kept = [each for each in query.split("&") if not each.startswith(f"{argument}=")]
    return f"{request.base_url}?{'&'.join(kept)}"


def _taken(records: Records, hash_: str, outcome: str | None, id_: str) -> Response:
    key, name, study = visitor(records)
    person = study.people.get(name)
    if not hmac.compare_digest(hash_, request.args.get("hash", "")):
        return answer({"error": "the hash is wrong: this way back counts for nothing"}, 403)
    if outcome is None or person is None or request.args.get(id_) != person.id:
        return answer({"error": "no such status, or nobody of that id was sent"}, 400)
    records.take_back(key, name, outcome)
    return answer({"outcome": outcome})


def visitor(records: Records) -> tuple[str, str, Study]:
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


def credit_doors(records: Records, faults: PanelFaultPlan) -> Blueprint:
    """Return the blueprint of SONA's two completion addresses."""
    doors = Blueprint("credit", __name__)

    @doors.get("/services/SonaAPI.svc/WebstudyCredit")
    def by_server() -> Response:
        failed = _fail_before(faults)
        if failed is not None:
            return failed
        problem, person = _asked(records)
        text = _credit_granted(person) if person is not None else _credit_refused(problem)
        faults.delay(_OPERATION)
        after = faults.strike(_OPERATION, "server_error_after", "reply_lost", "truncated")
        if after is not None and after.kind == "truncated":
            text = text[: len(text) // 2]
        elif after is not None:
            if after.kind == "reply_lost":
                hang_up()
            return Response("Server Error", 500)
        return Response(text, mimetype="text/xml")

    @doors.get("/webstudy_credit.aspx")
    def by_browser() -> Response:
        problem, person = _asked(records)
        if person is None:
            return Response(problem, 200 if "already" in problem else 400)
        return Response("Web study credit successfully granted.")

    return doors


def _asked(records: Records) -> tuple[str, Person | None]:
    """Grant the requested credit; return an error message (or "") and the person (or None)."""
    try:
        study = records.study(request.args.get("experiment_id", ""))
    except MarketplaceError:
        return "Invalid experiment_id or credit_token.", None
    if not _may(study):
        return "Invalid experiment_id or credit_token.", None
    person = records.person_by_id(study.key, request.args.get("survey_code", ""))
    if person is None:
        return "Invalid survey_code.", None
    again = bool(person.outcomes)
    records.take_back(study.key, person.name, "completed")
    return ("You have already received credit for this study.", None) if again else ("", person)


def _may(study: Study) -> bool:
    token = study.credit_token
    return bool(token) and request.args.get("credit_token") == token


def _fail_before(faults: PanelFaultPlan) -> Response | None:
    fault = faults.strike(_OPERATION, "throttled", "server_error", "request_lost")
    if fault is None:
        return None
    if fault.kind == "request_lost":
        hang_up()
    return Response("Try again.", 429 if fault.kind == "throttled" else 500)


def _credit_granted(person: Person) -> str:
    return (
        f'<WebstudyCreditResponse xmlns:a="sona" xmlns:i="{_SCHEMA}"><WebstudyCreditResult>'
        '<a:Errors i:nil="true"/><a:Result><a:credit_status>G</a:credit_status>'
        f"<a:survey_code>{escape(person.id)}</a:survey_code></a:Result>"
        "</WebstudyCreditResult></WebstudyCreditResponse>"
    )


def _credit_refused(problem: str) -> str:
    return (
        f'<WebstudyCreditResponse xmlns:a="sona" xmlns:i="{_SCHEMA}"><WebstudyCreditResult>'
        f"<a:Errors><a:Error>{escape(problem)}</a:Error></a:Errors>"
        '<a:Result i:nil="true"/></WebstudyCreditResult></WebstudyCreditResponse>'
    )
