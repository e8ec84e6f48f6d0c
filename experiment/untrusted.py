"""Safe processing of untrusted patterns, Markdown and TOML, in time bounded by their size.

Python's regular expressions need exponential time for a pattern such as ``(a+)+b``, and its TOML
reader needs quadratic time for a key with many parts. Either could block a server that handles many
studies on one thread.
"""

import re
import subprocess
import sys
import tomllib
from functools import lru_cache
from threading import Lock
from typing import Any

import re2

_LONGEST_PATTERN = 1_000
_REMEDY = (
    "without what only a search by trial and error finds: references back (\\1), looking ahead or "
    "behind ((?=, (?!, (?<=), possessive or more than 1,000 repetitions"
)
# The time limit for one pattern of an earlier study, which is matched in a separate process.
_TIME_LIMIT_S = 1.0
_PROCESS_LOCK = Lock()
_MATCH = "import re, sys; sys.exit(not getattr(re, sys.argv[1])(*sys.argv[2:4], int(sys.argv[4])))"
MOST_CHARACTERS, MOST_MARKS = 100_000, 2_000
_MARKS = re.compile(r"[^\w ,;:.?'\"]|_")
# Parsing a TOML key takes time quadratic in the number of its parts.
_LONGEST_TOML, _MOST_KEY_WORK = 1_000_000, 4_000_000


def valid_pattern(pattern: str) -> str:
    """Return a pattern if it is a valid regular expression.

    Raises:
        ValueError: The pattern is too long or invalid.
    """
    if len(pattern) > _LONGEST_PATTERN:
        raise ValueError(f"a regular expression of at most {_LONGEST_PATTERN:,} characters")
    try:
        re.compile(pattern, re.ASCII)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"a regular expression ({error})") from error
    return pattern


def explain_unbounded(pattern: str) -> str:
    """Return what is expected instead of a pattern without linear-time matching; else empty."""
    return "" if compile_linear(pattern) is not None else f"a regular expression {_REMEDY}"


def matches_whole(pattern: str, text: str) -> bool:
    """Return whether a pattern matches a whole text."""
    linear = compile_linear(pattern)
    if linear is None:
        return _match_in_process("fullmatch", pattern, text, re.ASCII)
    return linear.fullmatch(text) is not None


def matches_within(pattern: str, text: str) -> bool:
    """Return whether a pattern matches anywhere in a text."""
    linear = compile_linear(pattern)
    if linear is None:
        return _match_in_process("search", pattern, text, 0)
    return linear.search(text) is not None


def is_too_marked(markdown: str) -> bool:
    """Return whether converting a Markdown text to HTML would take too much work.

    The work grows with the number of lines and of characters that may be mark-up.
    """
    return len(markdown) > MOST_CHARACTERS or len(_MARKS.findall(markdown)) > MOST_MARKS


def read_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text.

    Raises:
        TOMLDecodeError: The text is not TOML, is too long, or has keys with too many parts.
    """
    work = sum(line.count(".") ** 2 for line in text.splitlines())
    if len(text) > _LONGEST_TOML or work > _MOST_KEY_WORK:
        raise tomllib.TOMLDecodeError("it is too long, or a line has too many dots")
    return tomllib.loads(text)


@lru_cache(1024)
def compile_linear(pattern: str) -> Any:  # noqa: ANN401 - the library has no types
    """Return a compiled pattern that matches in linear time; None if there is none."""
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error:
        return None


@lru_cache(4096)
def _match_in_process(function: str, pattern: str, text: str, flags: int) -> bool:
    """Match with Python's own engine, in a separate process with a time limit."""
    command = [sys.executable, "-I", "-S", "-c", _MATCH, function, pattern, text, str(int(flags))]
    # One match at a time: only users with such patterns have to wait.
    with _PROCESS_LOCK:
        try:
            done = subprocess.run(command, capture_output=True, timeout=_TIME_LIMIT_S, check=False)
        except (subprocess.TimeoutExpired, ValueError):  # a text may hold a null character
            return False
    return done.returncode == 0
