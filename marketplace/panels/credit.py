"""SONA's completion addresses: the study's server or the participant's browser requests credit."""

from xml.sax.saxutils import escape

from flask import Blueprint, Response, request

from marketplace.errors import MarketplaceError
from marketplace.faults import hang_up
from marketplace.panels.faults import PanelFaultPlan
from marketplace.panels.records import Person, Records, Study

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
        text = _granted(person) if person is not None else _refused(problem)
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


def _granted(person: Person) -> str:
    return (
        f'<WebstudyCreditResponse xmlns:a="sona" xmlns:i="{_SCHEMA}"><WebstudyCreditResult>'
        '<a:Errors i:nil="true"/><a:Result><a:credit_status>G</a:credit_status>'
        f"<a:survey_code>{escape(person.id)}</a:survey_code></a:Result>"
        "</WebstudyCreditResult></WebstudyCreditResponse>"
    )


def _refused(problem: str) -> str:
    return (
        f'<WebstudyCreditResponse xmlns:a="sona" xmlns:i="{_SCHEMA}"><WebstudyCreditResult>'
        f"<a:Errors><a:Error>{escape(problem)}</a:Error></a:Errors>"
        '<a:Result i:nil="true"/></WebstudyCreditResult></WebstudyCreditResponse>'
    )
