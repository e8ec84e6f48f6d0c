"""What the marketplace refuses: to programs as the real service words it, to workers as a page."""

from datetime import datetime

_PREFIX = "AWS.MechanicalTurk."


class WireError(Exception):
    """A call that is answered with an error of the protocol.

    Args:
        kind: The error's name in the protocol, e.g. ``RequestError``.
        message: What it says.
        code: The service's own code; empty where the protocol's layer answers.
        status: The HTTP status.
    """

    def __init__(self, kind: str, message: str, *, code: str = "", status: int = 400) -> None:
        super().__init__(message)
        self.kind, self.message, self.code, self.status = kind, message, code, status


class RefusedError(WireError):
    """A call that the service understood and refuses for good: ``RequestError``.

    Args:
        code: The code behind ``AWS.MechanicalTurk.``, e.g. ``HITDoesNotExist``.
        message: What it says; the service ends its sentences with the time in milliseconds.
        now: The time.
    """

    def __init__(self, code: str, message: str, now: datetime) -> None:
        text = f"{message} ({int(now.timestamp() * 1000)})"
        super().__init__("RequestError", text, code=_PREFIX + code)


def unknown(kind: str, name: str, now: datetime) -> RefusedError:
    """Return the service's answer to an identifier of nothing: ``QualificationType 3NO ...``."""
    word = "Hit" if kind == "HIT" else kind
    return RefusedError(f"{kind}DoesNotExist", f"{word} {name} does not exist.", now)


def wrong_state(code: str, allowed: str, now: datetime, before: str = "") -> RefusedError:
    """Return the service's answer to a call that the thing's state does not allow.

    Args:
        code: The code behind ``AWS.MechanicalTurk.``, e.g. ``InvalidHITState``.
        allowed: The states that allow it, with commas between.
        now: The time.
        before: A sentence that goes before.
    """
    text = f"This operation can be called with a status of: {allowed}"
    return RefusedError(code, f"{before} {text}".strip(), now)


class WorkerRefusedError(Exception):
    """A worker cannot do this; becomes a page.

    Args:
        code: A short stable name for programs.
        problem: What is wrong, in words a worker understands.
        status: The HTTP status.
    """

    def __init__(self, code: str, problem: str, *, status: int = 409) -> None:
        super().__init__(problem)
        self.problem, self.code, self.status = problem, code, status
