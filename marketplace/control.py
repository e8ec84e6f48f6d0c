"""The control API shared by all stand-ins: faults and the clock, for tests and drills."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from flask import Blueprint, Response, jsonify, request
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from marketplace.errors import MarketplaceError, wrong_key
from marketplace.faults import FaultPlan
from marketplace.serving import address, is_loopback


class _Clock(BaseModel):
    model_config = ConfigDict(extra="forbid")
    advance_s: float = Field(allow_inf_nan=False, ge=-1e9, le=1e9)


def shared_control(faults: FaultPlan, advance: Callable[[float], datetime]) -> Blueprint:
    """Return the control blueprint with faults and the clock; each stand-in adds its own routes.

    It answers requests from this machine only.

    Args:
        faults: The planned faults.
        advance: Moves the stand-in's clock forward by some seconds, and returns the new time.
    """
    door = Blueprint("control", __name__, url_prefix="/control")
    door.before_request(_refuse_others)
    door.register_error_handler(ValidationError, _invalid)
    door.register_error_handler(MarketplaceError, _unusable)

    @door.get("/faults")
    def faults_now() -> Response:
        return answer(faults.to_json())

    @door.post("/faults")
    def set_faults() -> Response:
        faults.set(given())
        return answer(faults.to_json())

    @door.post("/clock")
    def move_clock() -> Response:
        now = advance(_Clock.model_validate(given()).advance_s)
        return answer({"now": now.isoformat()})

    return door


def given() -> Mapping[str, Any]:
    """Return the JSON object in the request body.

    Raises:
        MarketplaceError: The body is not a JSON object.
    """
    sent = request.get_json(silent=True)
    if not isinstance(sent, dict):
        raise MarketplaceError("the body must be a JSON object")
    return sent


def answer(payload: Mapping[str, Any], status: int = 200) -> Response:
    """Return facts as a JSON response."""
    response = jsonify(payload)
    response.status_code = status
    return response


def _refuse_others() -> Response | None:
    caller = address(request.remote_addr or "", 0)
    here = is_loopback(caller) and is_loopback(request.host_url)
    # A page of another site can send a form but not JSON, so it cannot call these routes.
    if here and (request.method == "GET" or request.is_json):
        return None
    return answer({"error": "the control address takes JSON from this machine only"}, 403)


def _invalid(error: Exception) -> Response:
    assert isinstance(error, ValidationError)
    return answer({"error": f"{wrong_key(error)}."}, 400)


def _unusable(error: Exception) -> Response:
    return answer({"error": str(error)}, 400)
