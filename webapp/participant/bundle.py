"""The pages' modules as one program: a request for all of them, or none where a page holds it.

Each module becomes a function that returns what it exports. Only the plain forms of ``import`` and
``export`` are read; any other is refused, never guessed.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from webapp.errors import WebappError

_IMPORT = re.compile(
    r'^import \{(?P<names>[^}]*)\} from "(?P<path>\./|(?:\.\./)+)(?P<name>[\w/-]+\.js)";[ ]*$',
    re.MULTILINE,
)
_EXPORT = re.compile(
    r"^export (?P<kept>(?:const|let|async function\*?|function\*?|class) +(?P<name>\w+))",
    re.MULTILINE,
)
_OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
_ALIAS = re.compile(r"(\w+) as (\w+)")


def bundle(modules: Mapping[str, str], programs: Mapping[str, str]) -> str:
    """Return one program that begins a study without a server.

    Args:
        modules: The pages' modules by their names; one is ``serverless/begin.js``.
        programs: Those that a page asks for by name, such as a type of response's.

    Raises:
        WebappError: A module imports or exports in a form that is not read, or one that is not
            there, or a circle of modules import each other.
    """
    texts = {**modules, **programs}
    done: dict[str, str] = {}
    for name in texts:
        _add(name, texts, done, ())
    known = ", ".join(f'"{name}": {_variable(name)}' for name in programs)
    begin = f"{_variable('serverless/begin.js')}.begin({{ {known} }});"
    return "\n".join([*done.values(), begin, ""])


def joined(name: str, modules: Mapping[str, str]) -> str:
    """Return a module together with all that it imports, as one module with its exports.

    Args:
        name: Its name.
        modules: The texts of modules by their names.

    Raises:
        WebappError: As ``bundle``.
    """
    done: dict[str, str] = {}
    _add(name, modules, done, ())
    exported = ", ".join(_exported(modules[name]))
    return "\n".join([*done.values(), f"export const {{ {exported} }} = {_variable(name)};", ""])


def _add(name: str, texts: Mapping[str, str], done: dict[str, str], above: tuple[str, ...]) -> None:
    if name in done:
        return
    if name in above:
        raise _unreadable(name, f"it imports itself by way of {', '.join(above)}")
    if name not in texts:
        raise _unreadable(above[-1], f"it imports {name}, which is not there")
    for each in _imported(name, texts[name]):
        _add(each, texts, done, (*above, name))
    done[name] = _as_function(name, texts[name])


def _imported(name: str, text: str) -> Iterator[str]:
    for found in _IMPORT.finditer(text):
        yield _place(name, found)


def _place(name: str, found: re.Match[str]) -> str:
    folder = [] if found["path"] != "./" else name.split("/")[:-1]
    return "/".join([*folder, found["name"]])


@cache
def _as_function(name: str, text: str) -> str:
    exported = ", ".join(_exported(text))
    body = _IMPORT.sub(lambda found: _taken(name, found), text)
    body = _EXPORT.sub(lambda found: found["kept"], body)
    if other := _OTHER.search(body):
        raise _unreadable(name, f'its line "{other[0]}" is in another form')
    if "</script" in body.lower():
        raise _unreadable(name, "it contains the end of a script element")
    return f"const {_variable(name)} = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();"


def _exported(text: str) -> list[str]:
    return [found["name"] for found in _EXPORT.finditer(text)]


def _taken(name: str, found: re.Match[str]) -> str:
    names = _ALIAS.sub(r"\1: \2", " ".join(found["names"].split()))
    return f"const {{ {names} }} = {_variable(_place(name, found))};"


def _variable(name: str) -> str:
    return "m_" + re.sub(r"\W", lambda sign: f"_{ord(sign[0]):x}_", name)


def _unreadable(name: str, why: str) -> WebappError:
    return WebappError(
        f"the program {name} cannot become part of a page: {why}",
        expected='lines such as: import { name } from "./other.js"; and: export const name = ...',
        remedy="Write its imports and exports in that form, or serve the study with parallax serve",
    )
