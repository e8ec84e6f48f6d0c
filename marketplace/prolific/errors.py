"""Refusals of API calls, and of participants' actions at the site."""

from collections.abc import Mapping

Detail = str | Mapping[str, list[str]]


class RefusedError(Exception):
    """A call is refused and changes nothing.

    Args:
        detail: The problem; by field of the request, if fields are invalid.
        status: The HTTP status.
        code: The platform's number for the error.
        title: A short title of the error.
        retry_after_s: Seconds after which to repeat the call; None if repeating does
            not help.
    """

    def __init__(
        self,
        detail: Detail,
        *,
        status: int = 400,
        code: int = 140000,
        title: str = "Bad request",
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(str(detail))
        self.detail, self.status, self.code, self.title = detail, status, code, title
        self.retry_after_s = retry_after_s


class UnknownError(RefusedError):
    """No object has that identifier.

    Args:
        kind: The kind of object, e.g. ``study``.
    """

    def __init__(self, kind: str) -> None:
        super().__init__(f"There is no such {kind}.", status=404, code=140404, title="Not found")


class ParticipantRefusedError(Exception):
    """A participant's action at the site is refused.

    Args:
        code: The reason, for programs.
        problem: The reason, for people.
        status: The HTTP status.
    """

    def __init__(self, code: str, problem: str, *, status: int = 409) -> None:
        super().__init__(problem)
        self.code, self.problem, self.status = code, problem, status
