"""The errors of serving: for the operator at the shell, and for the participant in the browser."""

from experiment.errors import ParallaxError


class WebappError(ParallaxError):
    """The server, its database or a run cannot do what was asked."""


class SettingError(WebappError):
    """A setting is unknown or has the wrong type."""


class RunError(WebappError):
    """A run does not exist, is in the wrong state or cannot be launched."""


class RequestError(WebappError):
    """A participant's request cannot be honoured; becomes a page or a JSON error.

    Args:
        problem: What is wrong, in words a participant understands.
        status: The HTTP status.
        code: A short stable name for programs.
    """

    def __init__(self, problem: str, *, status: int, code: str) -> None:
        super().__init__(problem)
        self.status, self.code = status, code
