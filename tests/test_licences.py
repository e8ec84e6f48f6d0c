"""Everything that an install brings may go into an MIT project.

The licence is read from each distribution's own metadata, from every extra down to the last
library that one brings.
"""

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
# Code that imports one of these must be given away under the same licence.
REFUSED = re.compile(r"\bA?GPL|(?<!Lesser )\b(?:Affero )?General Public License", re.I)
LESSER = re.compile(r"\bLGPL|Lesser General Public License", re.I)


def wanted(names: list[str], extras: frozenset[str] = frozenset()) -> Iterator[Requirement]:
    """Yield the requirements that hold in this environment, with or without an extra."""
    for name in names:
        requirement = Requirement(name)
        environments = [{"extra": extra} for extra in extras or {""}]
        if requirement.marker is None or any(map(requirement.marker.evaluate, environments)):
            yield requirement


def brought_by(names: list[str]) -> dict[str, Distribution]:
    """Return each distribution that these requirements bring and that is installed here."""
    found: dict[str, Distribution] = {}
    seen = set[tuple[str, frozenset[str]]]()
    waiting = list(wanted(names))
    while waiting:
        requirement = waiting.pop()
        name, extras = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        if name == PROJECT["name"]:
            waiting += wanted([each for extra in extras for each in EXTRAS[extra]])
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue
        waiting += wanted(list(found[name].requires or []), extras)
    return found


def licence(of: Distribution) -> str:
    """Return what a distribution says of its licence: an expression, else words or its file."""
    meta = of.metadata
    if expression := meta.get("License-Expression"):
        return str(expression)
    classifiers = [c for c in meta.get_all("Classifier") or [] if c.startswith("License ::")]
    # A licence field may hold a whole text, in which other licences are mentioned.
    field = (meta.get("License") or "").strip()
    said = "; ".join([*([field] if 0 < len(field) < 100 else []), *classifiers])
    if said:
        return said
    files = [f for f in of.files or [] if re.match(r"(LICEN[CS]E|COPYING)", f.name, re.I)]
    return "\n".join(f.read_text("utf-8")[:400] for f in files)


def refused(said: str) -> bool:
    """Return whether a licence leaves no choice but the GPL or the AGPL."""
    return all(REFUSED.search(choice) for choice in re.split(r"\bOR\b", said))


@pytest.mark.parametrize("extra", ["", *EXTRAS])
def test_no_library_below_an_extra_is_under_the_gpl(extra: str):
    found = brought_by(EXTRAS[extra] if extra else PROJECT["dependencies"])
    assert found or extra == "kenlm"
    unknown = [name for name, of in found.items() if not licence(of)]
    assert unknown == []
    assert {name: licence(of) for name, of in found.items() if refused(licence(of))} == {}


def test_libraries_under_the_lesser_gpl_are_listed_for_who_approves():
    names = PROJECT["dependencies"] + [each for extra in EXTRAS.values() for each in extra]
    lesser = {name for name, of in brought_by(names).items() if LESSER.search(licence(of))}
    page = (ROOT / "docs" / "approval.md").read_text("utf-8")
    (row,) = re.findall(r"^\| licences of libraries \| (.+) \|$", page, re.M)
    assert lesser <= set(re.findall(r"`([\w-]+)`", row))


@pytest.mark.parametrize(
    ("said", "is_refused"),
    [
        ("GPL-3.0-or-later", True),
        ("AGPL-3.0-only", True),
        ("GNU General Public License v3 (GPLv3)", True),
        ("GNU Affero General Public License v3", True),
        ("GNU GENERAL PUBLIC LICENSE\nVersion 3", True),
        ("LGPL-3.0-only", False),
        ("GNU Lesser General Public License v3 (LGPLv3)", False),
        ("MIT OR GPL-2.0-only", False),
        ("BSD-3-Clause AND GPL-2.0-only", True),
        ("Apache-2.0", False),
    ],
)
def test_a_licence_is_refused_where_it_leaves_no_choice(said: str, is_refused: bool):
    assert refused(said) is is_refused
