"""Shared code of all API calls: token, faults, one transaction, errors, asynchronous jobs."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from flask import Blueprint, Response, request
from sqlalchemy import select

from marketplace.control import FaultPlan, close_connection
from marketplace.prolific.errors import RefusedError
from marketplace.prolific.store import Job, Moment, Store

API = "/api/v1"
Reply = tuple[int, Any] | tuple[int, Any, Mapping[str, str]]
Operation = Callable[..., Reply]
_RETRY_AFTER_S = 1


class ApiRouter:
    """Registers the researchers' API calls.

    Args:
        store: The stand-in's state.
        faults: The planned faults.
        on_done: Called after each API call.
    """

    def __init__(self, store: Store, faults: FaultPlan, on_done: Callable[[], None]) -> None:
        self.blueprint = Blueprint("api", __name__)
        self._store, self._faults, self._done = store, faults, on_done

    def on(
        self, method: str, path: str, operation: str, *, flat: bool = False, open_: bool = False
    ) -> Callable[[Operation], Operation]:
        """Return a decorator that registers a function as the handler of a call.

        Args:
            method: The HTTP method.
            path: The path, as a Flask rule.
            operation: The call's name in the platform's document.
            flat: Whether the document defines the call's errors without the member ``error``.
            open_: Whether the call needs no token.
        """

        def register(answer: Operation) -> Operation:
            def view(**parts: str) -> Response:
                return self._handle_call(answer, operation, parts, flat=flat, open_=open_)

            self.blueprint.add_url_rule(path, operation, view, methods=[method])
            return answer

        return register

    def _handle_call(
        self, answer: Operation, operation: str, parts: dict[str, str], *, flat: bool, open_: bool
    ) -> Response:
        try:
            self._fail_before(operation)
            with self._store.moment() as moment:
                if not open_:
                    _check_token(moment)
                status, body, *headers = answer(moment, **parts)
            response = _build_response(status, body, headers[0] if headers else {})
            self._fail_after(operation, response)
        except RefusedError as error:
            return error_response(error, flat=flat)
        self._done()
        return response

    def _fail_before(self, operation: str) -> None:
        fault = self._faults.draw_fault(operation, "throttled", "server_error", "request_lost")
        if fault is None:
            return
        if fault.kind == "throttled":
            raise wallet_busy_error()
        if fault.kind == "request_lost":
            close_connection()
        raise _server_error()

    def _fail_after(self, operation: str, response: Response) -> None:
        self._faults.delay(operation)
        fault = self._faults.draw_fault(operation, "reply_lost", "server_error_after", "cut_off")
        if fault is None:
            return
        if fault.kind == "cut_off":
            content = response.get_data()
            response.set_data(content[: len(content) // 2])
            return
        if fault.kind == "reply_lost":
            close_connection()
        raise _server_error()

    def drops_promised_work(self, operation: str) -> bool:
        """Return whether a fault prevents the promised work of this call from ever being done."""
        return self._faults.draw_fault(operation, "accepted_not_done") is not None


def read_json_object() -> dict[str, Any]:
    """Return the JSON object in the current request's body.

    Raises:
        RefusedError: The body is not a JSON object.
    """
    body = request.get_json(silent=True)
    if not isinstance(body, dict):
        raise RefusedError("The body must be a JSON object.")
    return body


def wallet_busy_error() -> RefusedError:
    """Return the error for a wallet that another call is using."""
    return RefusedError(
        "The workspace's wallet is in use by another request. Try again later.",
        status=429,
        code=140429,
        title="Too many requests",
        retry_after_s=_RETRY_AFTER_S,
    )


def error_response(error: RefusedError, *, flat: bool = False) -> Response:
    """Return an error in the platform's format."""
    detail = {
        "status": error.status,
        "error_code": error.code,
        "title": error.title,
        "detail": error.detail,
        "additional_information": "",
        "traceback": "",
        "interactive": False,
    }
    headers = {} if error.retry_after_s is None else {"Retry-After": str(error.retry_after_s)}
    # Without wrapping, send both: other programs look for the member ``error``.
    return _build_response(error.status, {**(detail if flat else {}), "error": detail}, headers)


def _check_token(moment: Moment) -> None:
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    accepted_token = moment.account.token
    if kind != "Token" or not token or (accepted_token and token != accepted_token):
        raise RefusedError(
            "Authentication credentials were not provided or are invalid.",
            status=401,
            code=140100,
            title="Authentication error",
        )


def _server_error() -> RefusedError:
    return RefusedError(
        "Something went wrong on our side.", status=500, code=140500, title="Server error"
    )


def _build_response(status: int, body: object, headers: Mapping[str, str]) -> Response:
    if isinstance(body, bytes):
        return Response(body, status, headers, mimetype="text/csv")
    text = "" if status == 204 else json.dumps(body)
    return Response(text, status, headers, mimetype="application/json")


def create_job(
    moment: Moment, router: ApiRouter, operation: str, kind: str, ids: Sequence[str]
) -> None:
    """Create a job whose work is done later.

    Args:
        moment: The transaction.
        router: The API, for its faults.
        operation: The call's name.
        kind: ``bonus`` or ``approve``.
        ids: The ids of bonus set-ups or of submissions.

    Raises:
        RefusedError: An earlier job is not done yet.
    """
    if moment.session.scalars(select(Job).where(Job.done.is_(False))).first() is not None:
        raise wallet_busy_error()
    if router.drops_promised_work(operation):
        return
    due_at = moment.now + timedelta(seconds=moment.account.bulk_s)
    moment.session.add(Job(kind=kind, ids=list(ids), due_at=due_at))
