"""Signed ways back of commercial panels: a way back whose hash is wrong counts for nothing."""

import base64
import hashlib
import hmac

from flask import Blueprint, Response, request

from marketplace.control import answer
from marketplace.panels.records import Records
from marketplace.panels.visitor import visitor

_CINT = {"10": "completed", "20": "screened_out", "30": "failed_check", "40": "full"}
_NINJA = {"c": "completed", "p": "screened_out", "q": "full", "qua": "failed_check",
          "dup": "duplicate", "s": "security"}  # fmt: skip


def exit_doors(records: Records) -> Blueprint:
    """Return the addresses to which studies send people back."""
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
    """Return the address as it was opened, without one argument."""
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
