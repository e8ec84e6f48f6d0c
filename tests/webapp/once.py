"""What every installation of one process has in common is compiled once.

Each test opens an installation of its own, whose addresses are those of all others: compiling them
anew was a third of opening it. A server compiles them once, so nothing that it does is left out.
"""

from typing import Any

from werkzeug.routing import Rule


def compile_once() -> None:
    """Let the apps of this process share the programs that write their addresses."""
    original, made = Rule._compile_builder, dict[object, Any]()

    def builder(rule: Rule, append_unknown: bool = True) -> Any:
        if rule.defaults:  # their values are written into the program
            return original(rule, append_unknown)
        # What it gives takes the rule, with its converters, as an argument.
        key = (rule.rule, tuple(rule._trace), append_unknown)
        if key not in made:
            made[key] = original(rule, append_unknown)
        return made[key]

    Rule._compile_builder = builder  # type: ignore[method-assign]
