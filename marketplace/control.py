"""Planned faults, and the control API of all stand-ins: faults and the clock, for tests."""

import random
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, ClassVar

from flask import Blueprint, Response, jsonify, request
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from marketplace.errors import MarketplaceError, describe_first_error
from marketplace.serving import build_url, is_loopback

_ALL_OPERATIONS = "*"


class Fault(BaseModel):
    """One planned fault.

    Attributes:
        kind: The kind of fault.
        operation: The calls that it affects; ``*`` means all.
        count: The most times it occurs; null means no limit.
        probability: Its probability at each call.
        seconds: The delay of a slow answer.
    """

    model_config = ConfigDict(extra="forbid")

    kind: str
    operation: str = _ALL_OPERATIONS
    count: int | None = Field(default=None, ge=0)
    probability: float = Field(default=1.0, ge=0.0, le=1.0)
    seconds: float = Field(default=0.0, ge=0.0, le=600.0)


class Faults(BaseModel):
    """All planned faults in the order in which they are tried, and the seed of the random draws."""

    model_config = ConfigDict(extra="forbid")

    seed: int = 1
    faults: list[Fault] = []


class FaultPlan:
    """Decides at each call which fault occurs; starts without any.

    Attributes:
        kinds: The kinds of faults that the stand-in supports.

    Args:
        sleep: Delays a slow answer by some seconds.
    """

    kinds: ClassVar[tuple[str, ...]] = ()

    def __init__(self, sleep: Callable[[float], object] = time.sleep) -> None:
        self._lock, self._sleep = threading.Lock(), sleep
        self.replace({})

    def replace(self, fields: Mapping[str, Any]) -> None:
        """Replace the faults, and restart the random numbers.

        Args:
            fields: The fields of ``Faults``.

        Raises:
            MarketplaceError: They are not valid fields of ``Faults``.
        """
        try:
            plan = Faults.model_validate(fields)
        except ValidationError as error:
            raise MarketplaceError(
                f"these faults cannot be made: {describe_first_error(error)}"
            ) from error
        for fault in plan.faults:
            self._refuse_unknown(fault.kind)
        with self._lock:
            self._plan, self._random = plan, random.Random(plan.seed)
            self._made: dict[str, int] = {}

    def draw_fault(self, operation: str, *kinds: str) -> Fault | None:
        """Return and count the first fault of these kinds that occurs at this call, or None."""
        with self._lock:
            for fault in self._plan.faults:
                if fault.kind in kinds and self._occurs(fault, operation):
                    if fault.count is not None:
                        fault.count -= 1
                    self._made[fault.kind] = self._made.get(fault.kind, 0) + 1
                    return fault
        return None

    def delay(self, operation: str) -> None:
        """Delay the answer if a fault makes this call slow."""
        slow = self.draw_fault(operation, "slow")
        if slow is not None:
            self._sleep(slow.seconds)

    def _refuse_unknown(self, kind: str) -> None:
        if kind not in self.kinds:
            raise MarketplaceError(
                f'these faults cannot be made: there is no kind "{kind}"',
                where="faults",
                expected=f"one of {', '.join(self.kinds)}",
            )

    def _occurs(self, fault: Fault, operation: str) -> bool:
        if fault.operation not in (_ALL_OPERATIONS, operation) or fault.count == 0:
            return False
        return self._random.random() < fault.probability

    def to_json(self) -> dict[str, Any]:
        """Return the remaining faults, and how often each kind has occurred."""
        with self._lock:
            return {**self._plan.model_dump(), "made": dict(self._made)}


def close_connection() -> None:
    """Close the connection, so that the caller gets no answer whatever is written later."""
    connection = request.environ.get("werkzeug.socket") or request.environ.get("gunicorn.socket")
    if connection is not None:
        # The caller may have disconnected already.
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)


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
