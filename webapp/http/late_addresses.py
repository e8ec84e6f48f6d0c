"""An address whose way of being written is worked out when it is first written.

Most addresses are only ever read by one process, and working this out for all of them took more
than half of the time to make the app.
"""

from collections.abc import Callable
from functools import cached_property

from werkzeug.routing import Rule

_Written = Callable[..., tuple[str, str]]


class LateRule(Rule):
    """A rule that compiles what ``url_for`` calls when it is called."""

    @cached_property
    def _with_what_it_needs(self) -> _Written:
        return super()._compile_builder(False)

    @cached_property
    def _with_all_that_is_given(self) -> _Written:
        return super()._compile_builder(True)

    def _compile_builder(self, append_unknown: bool = True) -> _Written:
        return _write_all if append_unknown else _write_needed


def _write_needed(rule: LateRule, *given: object, **values: object) -> tuple[str, str]:
    return rule._with_what_it_needs(rule, *given, **values)


def _write_all(rule: LateRule, *given: object, **values: object) -> tuple[str, str]:
    return rule._with_all_that_is_given(rule, *given, **values)
