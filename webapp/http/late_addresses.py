"""An address whose way of being written is worked out when it is first written.

Most addresses are only ever read by one process, and working this out for all of them took more
than half of the time to make the app.
"""

from collections.abc import Callable
from functools import cache

from werkzeug.routing import Rule

_Written = Callable[..., tuple[str, str]]


class LateRule(Rule):
    """A rule that compiles what ``url_for`` calls when it is called."""

    def _compile_builder(self, append_unknown: bool = True) -> _Written:
        @cache
        def compiled() -> _Written:
            return super(LateRule, self)._compile_builder(append_unknown)

        def write(rule: Rule, *given: object, **values: object) -> tuple[str, str]:
            return compiled()(rule, *given, **values)

        return write
