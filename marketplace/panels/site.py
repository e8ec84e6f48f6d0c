"""The panels' pages for participants, signed return addresses, and the control API."""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime

from flask import Blueprint, Response, redirect, request
from pydantic import BaseModel, ConfigDict

from marketplace.control import answer, given, shared_control
from marketplace.errors import MarketplaceError
from marketplace.panels.faults import PanelFaultPlan
from marketplace.panels.records import Records, Study

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
