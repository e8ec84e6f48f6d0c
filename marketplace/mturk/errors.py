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
