"""Refusals: of API calls in the real service's wording, of workers' requests as a page."""

from datetime import datetime

_PREFIX = "AWS.MechanicalTurk."


class WireError(Exception):
    """A call that is answered with a protocol error.

    Args:
        kind: The error's name in the protocol, e.g. ``RequestError``.
        message: The error message.
        code: The service's own error code; empty for errors of the protocol itself.
        status: The HTTP status.
    """

    def __init__(self, kind: str, message: str, *, code: str = "", status: int = 400) -> None:
        super().__init__(message)
        self.kind, self.message, self.code, self.status = kind, message, code, status


class RefusedError(WireError):
    """A valid call that the service refuses permanently: ``RequestError``.

    Args:
        code: The code after ``AWS.MechanicalTurk.``, e.g. ``HITDoesNotExist``.
        message: The message; the service ends it with the time in milliseconds.
        now: The time.
    """

    def __init__(self, code: str, message: str, now: datetime) -> None:
        text = f"{message} ({int(now.timestamp() * 1000)})"
        super().__init__("RequestError", text, code=_PREFIX + code)


def unknown_object_error(kind: str, name: str, now: datetime) -> RefusedError:
    """Return the service's error for an unknown identifier: ``QualificationType 3NO ...``."""
    word = "Hit" if kind == "HIT" else kind
    return RefusedError(f"{kind}DoesNotExist", f"{word} {name} does not exist.", now)


def wrong_state_error(
    code: str, allowed: str, now: datetime, introduction: str = ""
) -> RefusedError:
    """Return the service's error for a call that the object's state does not allow.

    Args:
        code: The code after ``AWS.MechanicalTurk.``, e.g. ``InvalidHITState``.
        allowed: The states that allow the call, separated by commas.
        now: The time.
        introduction: A sentence that precedes the message.
    """
    text = f"This operation can be called with a status of: {allowed}"
    return RefusedError(code, f"{introduction} {text}".strip(), now)


class WorkerRefusedError(Exception):
    """A worker cannot do this; the error is shown as a page.

    Args:
        code: A short, stable name of the error for programs.
        problem: The problem, in words for workers.
        status: The HTTP status.
    """

    def __init__(self, code: str, problem: str, *, status: int = 409) -> None:
        super().__init__(problem)
        self.problem, self.code, self.status = problem, code, status
