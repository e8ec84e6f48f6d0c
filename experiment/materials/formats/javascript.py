"""Literals of JavaScript, read without running anything: arrays, objects, texts and numbers."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from experiment.errors import MaterialsError

_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)
    |(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\b)
    |(?P<name>[^\W\d][\w$]*|\$[\w$]*)
    |(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
# A slash after one of these, or at the beginning, opens a regular expression.
_BEFORE_PATTERN = {"", *"([{,=:;!&|?+", "return", "typeof", "case"}
_PATTERN = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*")
_ESCAPE = re.compile(r"\\(u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0",
            "\n": "", "\r\n": ""}  # fmt: skip
_CONSTANTS: dict[str, object] = {"true": True, "false": False, "null": None, "undefined": None}
_CLOSING = {"[": "]", "{": "}", "(": ")"}


@dataclass(frozen=True, slots=True)
class CodeExpression:
    """An expression that is not a literal, such as a function or a variable.

    Attributes:
        text: The expression as it is written.
    """

    text: str


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


def read_variables(text: str, names: Collection[str], where: str) -> dict[str, tuple[object, int]]:
    """Return the values that a program gives to variables, with the lines on which they begin.

    Arrays become lists, objects dictionaries, and all other expressions ``CodeExpression``.

    Args:
        text: The program.
        names: The variables; one that the program does not set is left out.
        where: The file, for messages.

    Raises:
        MaterialsError: A bracket or a quotation mark is not closed.
    """
    return _Reader(text, where).variables(names)


class LocatedArray(list[object]):
    """An array, with the line on which it begins.

    Attributes:
        line: The line, from 1.
    """

    line = 1


class _Reader:
    def __init__(self, text: str, where: str) -> None:
        self._text, self._where = text, where
        self._tokens = list(self._split())
        self._next = 0

    def variables(self, names: Collection[str]) -> dict[str, tuple[object, int]]:
        values: dict[str, tuple[object, int]] = {}
        while self._next < len(self._tokens):
            token = self._take()
            if token.kind == "name" and token.text in names and self._peek() == "=":
                self._take()
                if self._peek() != "=":
                    values[token.text] = self._value(), self._line(token.start)
        return values

    def _split(self) -> Iterator[_Token]:
        place, before = 0, ""
        while place < len(self._text):
            match = _TOKEN.match(self._text, place)
            if match and match["sign"] == "/" and before in _BEFORE_PATTERN:
                match = _PATTERN.match(self._text, place) or match
            if match is None:
                return
            place, kind = match.end(), match.lastgroup or "pattern"
            if kind == "skip":
                continue
            before = match.group()
            if before in ('"', "'", "`"):
                raise self._error("a text has no closing quotation mark", match.start())
            yield _Token(kind, before, match.start(), match.end())

    def _line(self, place: int) -> int:
        return self._text.count("\n", 0, place) + 1

    def _error(self, problem: str, place: int) -> MaterialsError:
        return MaterialsError(
            problem,
            where=f"{self._where}, line {self._line(place)}",
            expected="brackets and quotation marks that come in pairs, as in JavaScript",
        )

    def _peek(self) -> str:
        """Return the sign that follows; empty for anything else."""
        token = self._tokens[self._next] if self._next < len(self._tokens) else None
        return token.text if token and token.kind == "sign" else ""

    def _take(self) -> _Token:
        if self._next >= len(self._tokens):
            raise self._error("the file ends within a bracket", len(self._text))
        self._next += 1
        return self._tokens[self._next - 1]

    def _value(self) -> object:
        begin = self._next
        value = self._literal()
        while isinstance(value, str) and self._peek() == "+":
            self._take()
            more = self._literal()
            value = value + more if isinstance(more, str) else CodeExpression("")
        if self._peek() in (",", "]", "}", ")", ";", "") and not isinstance(value, CodeExpression):
            # A new line may end a statement, too.
            return value
        self._skip_expression()
        last = self._tokens[max(begin, self._next - 1)]
        return CodeExpression(self._text[self._tokens[begin].start : last.end])

    def _literal(self) -> object:
        token = self._take()
        if token.text == "[":
            return self._array(token)
        if token.text == "{":
            return self._object()
        if token.kind == "text" and "${" not in token.text:
            return _ESCAPE.sub(_unescape, token.text[1:-1])
        if token.kind == "number":
            return float(token.text) if re.search("[.eE]", token.text) else int(token.text)
        if token.text in _CONSTANTS:
            return _CONSTANTS[token.text]
        self._next -= 1
        return CodeExpression("")

    def _array(self, opening: _Token) -> LocatedArray:
        values = LocatedArray()
        values.line = self._line(opening.start)
        while self._peek() != "]":
            if self._peek() == ",":
                self._take()
                continue
            values.append(self._value())
            self._refuse_other(",]")
        self._take()
        return values

    def _object(self) -> dict[str, object]:
        values: dict[str, object] = {}
        while self._peek() != "}":
            if self._peek() == ",":
                self._take()
                continue
            key = self._take()
            if self._peek() == ":":
                self._take()
                name = key.text[1:-1] if key.kind == "text" else key.text
                values[name] = self._value()
            else:
                # A method, or a variable's name alone.
                self._skip_expression()
            self._refuse_other(",}")
        self._take()
        return values

    def _refuse_other(self, allowed: str) -> None:
        if self._peek() not in tuple(allowed):
            token = self._take()
            raise self._error(f'"{token.text[:30]}" is not expected here', token.start)

    def _skip_expression(self) -> None:
        """Skip an expression up to the comma, bracket or semicolon that ends it."""
        open_brackets: list[str] = []
        while open_brackets or self._peek() not in (",", "]", "}", ")", ";"):
            if not open_brackets and self._next >= len(self._tokens):
                return
            token = self._take()
            if token.kind == "sign" and token.text in _CLOSING:
                open_brackets.append(_CLOSING[token.text])
            elif open_brackets and token.text == open_brackets[-1]:
                open_brackets.pop()


def _unescape(match: re.Match[str]) -> str:
    escape = match[1]
    if escape[0] in "ux" and len(escape) > 1:
        return chr(int(escape[1:].strip("{}"), 16))
    return _ESCAPED.get(escape, escape)
