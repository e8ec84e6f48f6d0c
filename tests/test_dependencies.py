"""What is imported is declared, by the extra that whoever runs it has installed.

The development install has every library, so it cannot tell that one is missing from a smaller
install: `make study` installs ``[analysis,mturk]`` and once stopped because a module without
PyTorch needed a library that only ``[lm]`` declared.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

from experiment.commands.lazy_group import find_extras
from tests import folder_graph
from tests.folder_graph import PACKAGES

ROOT = Path(__file__).parent.parent
OURS = {*PACKAGES, "parallax", "wsgi"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# A module that needs one of these is run by who has installed the extra that stands beside it.
ON_REQUEST = {
    library: extra for library, extra in find_extras().items() if extra not in {"analysis", "mturk"}
}
IMPLIED = {"hf": ("lm",)}
# A library that one of ours is built on and always brings.
BROUGHT_BY = {"werkzeug": "flask", "pydantic_core": "pydantic", "cryptography": "pyjwt"}
# What a plain server of participants has, and what `make study` adds.
SERVER = ("webapp", "experiment", "marketplace")


def declared(*extras: str) -> set[str]:
    named = list(PROJECT["dependencies"])
    for extra in extras:
        for each in (extra, *IMPLIED.get(extra, ())):
            named += PROJECT["optional-dependencies"][each]
    return {re.match(r"[\w.-]+", name)[0].lower().replace("_", "-") for name in named}


@cache
def distributions() -> dict[str, list[str]]:
    return dict(packages_distributions())


def undeclared(libraries: set[str], offered: set[str]) -> set[str]:
    return {
        library
        for library in libraries
        if BROUGHT_BY.get(library) not in offered
        and not any(
            name.lower().replace("_", "-") in offered
            for name in distributions().get(library, [library])
        )
    }


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in folder_graph.sources(ROOT)}


def at_import(nodes: list[ast.stmt]) -> Iterator[str]:
    """Modules that are imported when the file is, not when a function of it runs."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from at_import(node.orelse)
        elif isinstance(node, ast.Try):  # what may be absent is caught
            continue
        elif isinstance(node, ast.If | ast.With):
            yield from at_import(node.body)
            yield from at_import(getattr(node, "orelse", []))


@cache
def reads(module: str) -> tuple[set[str], set[str]]:
    """Our own modules and the libraries that importing ``module`` imports at once."""
    ours, libraries = set(), set()
    for name in at_import(folder_graph.tree(MODULES[module]).body):
        top = name.split(".")[0]
        if top not in OURS:
            libraries.add(top)
            continue
        while name and name not in MODULES:
            name = name.rpartition(".")[0]
        while name:  # a module's packages are imported before it
            if name in MODULES:
                ours.add(name)
            name = name.rpartition(".")[0]
    return ours, libraries - set(sys.stdlib_module_names)


def needs(module: str) -> set[str]:
    seen, todo, libraries = {module}, [module], set()
    while todo:
        ours, found = reads(todo.pop())
        libraries |= found
        todo += ours - seen
        seen |= ours
    return libraries


def installed_with(module: str, libraries: set[str]) -> set[str]:
    """The extras that whoever runs a module has."""
    installed = {ON_REQUEST[library] for library in libraries if library in ON_REQUEST}
    if "mturk" in module or module == "marketplace.command":
        installed.add("mturk")
    if module.split(".")[0] not in SERVER:
        installed |= {"analysis", "mturk"}
    return installed


def test_a_module_imports_what_its_users_have_installed():
    libraries = {module: needs(module) for module in MODULES}
    missing = {
        module: undeclared(own, declared(*sorted(installed_with(module, own))))
        for module, own in libraries.items()
    }
    assert {module: names for module, names in missing.items() if names} == {}


def test_what_a_function_imports_is_declared_by_some_extra():
    named = {
        name.split(".")[0]
        for path in MODULES.values()
        for node in folder_graph.imports(path)
        for name in (
            [alias.name for alias in node.names] if isinstance(node, ast.Import)
            else [node.module or ""]
        )
    }  # fmt: skip
    libraries = named - OURS - set(sys.stdlib_module_names) - {"_typeshed"}
    assert not undeclared(libraries, declared(*PROJECT["optional-dependencies"]))


def test_every_library_that_an_extra_brings_is_named_by_it():
    """Only so does a command without it say what to install; it ended in a trace for botocore."""
    assert set(BROUGHT_BY.values()) <= declared()


def test_the_installed_extras_are_those_of_the_project():
    # s3 has no library of its own: its parts are backup's and mturk's, and its error names it.
    others = {"docs", "dev", "s3"}
    assert set(find_extras().values()) == set(PROJECT["optional-dependencies"]) - others
    assert not declared() & set(find_extras())
