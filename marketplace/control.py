"""The control API shared by all stand-ins: faults and the clock, for tests and drills."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from flask import Blueprint, Response, jsonify, request
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from marketplace.errors import MarketplaceError, describe_first_error
from marketplace.faults import FaultPlan
from marketplace.serving import build_url, is_loopback


class _ClockChange(BaseModel):
    model_config = ConfigDict(extra="forbid")
    advance_s: float = Field(allow_inf_nan=False, ge=-1e9, le=1e9)


def create_control_blueprint(faults: FaultPlan, advance: Callable[[float], datetime]) -> Blueprint:
    """Return the control blueprint with faults and the clock; each stand-in adds its own routes.

    It answers requests from this machine only.

    Args:
        faults: The planned faults.
        advance: Moves the stand-in's clock forward by some seconds, and returns the new time.
    """
    control = Blueprint("control", __name__, url_prefix="/control")
    control.before_request(_refuse_others)
    control.register_error_handler(ValidationError, _answer_invalid)
    control.register_error_handler(MarketplaceError, _answer_unusable)

    @control.get("/faults")
    def faults_now() -> Response:
        return json_response(faults.to_json())

    @control.post("/faults")
    def set_faults() -> Response:
        faults.replace(read_json_object())
        return json_response(faults.to_json())

    @control.post("/clock")
    def move_clock() -> Response:
        now = advance(_ClockChange.model_validate(read_json_object()).advance_s)
        return json_response({"now": now.isoformat()})

    return control


def read_json_object() -> Mapping[str, Any]:
    """Return the JSON object in the request body.

    Raises:
        MarketplaceError: The body is not a JSON object.
    """
    body = request.get_json(silent=True)
    if not isinstance(body, dict):
        raise MarketplaceError("the body must be a JSON object")
    return body


def json_response(payload: Mapping[str, Any], status: int = 200) -> Response:
    """Return facts as a JSON response."""
    response = jsonify(payload)
    response.status_code = status
    return response


def _refuse_others() -> Response | None:
    caller = build_url(request.remote_addr or "", 0)
    is_local = is_loopback(caller) and is_loopback(request.host_url)
    # A page of another site can send a form but not JSON, so it cannot call these routes.
    if is_local and (request.method == "GET" or request.is_json):
        return None
    return json_response({"error": "the control address takes JSON from this machine only"}, 403)


def _answer_invalid(error: Exception) -> Response:
    assert isinstance(error, ValidationError)
    return json_response({"error": f"{describe_first_error(error)}."}, 400)


def _answer_unusable(error: Exception) -> Response:
    return json_response({"error": str(error)}, 400)
