"""Refusals: of programs that call, and of participants at the site."""

from collections.abc import Mapping

Detail = str | Mapping[str, list[str]]


class RefusedError(Exception):
    """A call is refused; nothing of it was done.

    Args:
        detail: What is wrong; for each field of the request where fields are wrong.
        status: The HTTP status.
        code: The platform's number for the error.
        title: The error in a few words.
        retry_after_s: After how many seconds the call may be made again; None where that is
            no help.
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
    """There is nothing of that identifier.

    Args:
        what: What was asked for, e.g. ``study``.
    """

    def __init__(self, what: str) -> None:
        super().__init__(f"There is no such {what}.", status=404, code=140404, title="Not found")


class ParticipantRefusedError(Exception):
    """A participant cannot do that at the site.

    Args:
        code: The reason, for programs.
        problem: The reason, for people.
        status: The HTTP status.
    """

    def __init__(self, code: str, problem: str, *, status: int = 409) -> None:
        super().__init__(problem)
        self.code, self.problem, self.status = code, problem, status
