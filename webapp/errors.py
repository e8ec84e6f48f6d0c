"""The errors of the server, for operators at the shell and participants in the browser."""

from experiment.errors import ParallaxError


class WebappError(ParallaxError):
    """An operation of the server, its database or a run failed."""


class SettingError(WebappError):
    """A setting is unknown, missing or invalid."""


class RunError(WebappError):
    """A run does not exist, is in the wrong state or cannot be launched."""


class RequestError(WebappError):
    """A participant's request is refused, with an error page or a JSON error.

    Args:
        problem: The problem, in words that participants understand.
        status: The HTTP status.
        code: A short, stable name of the error for programs.
    """

    def __init__(self, problem: str, *, status: int, code: str) -> None:
        super().__init__(problem)
        self.status, self.code = status, code
