"""The licences of other people's sentences in a study's items."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from analysis.archive.package import Package
from experiment.materials.licences import COLUMN, UNKNOWN_LICENCE, split_licences
from experiment.tables.schemas import ITEMS

_CREATIVE_COMMONS = re.compile(r"^CC (BY(?:-NC)?(?:-SA|-ND)?) (\d\.\d)$", re.IGNORECASE)
# Names in use with Universal Dependencies and UniMorph, and their SPDX identifiers.
_IDENTIFIERS = {"CC0": "CC0-1.0", "CC0 1.0": "CC0-1.0", "LGPL-LR": "LGPLLR"}
# Almost every identifier has a version; names without one, such as GPL, are ambiguous.
_SPDX = re.compile(r"(?=.*\d)[A-Za-z0-9.+-]+|MIT|ISC|LGPLLR|Unlicense")
_TERMS = {
    "NC": "no commercial use",
    "SA": "what is made of them goes under the same licence",
    "ND": "no changed versions",
}


@dataclass(frozen=True, slots=True)
class Licence:
    """A licence.

    Attributes:
        name: Its SPDX identifier, or its name as its source writes it.
    """

    name: str

    @property
    def is_spdx(self) -> bool:
        """Whether the name is an SPDX identifier."""
        return bool(_SPDX.fullmatch(self.name))

    @property
    def is_stated(self) -> bool:
        """Whether the source names a licence."""
        return self.name != UNKNOWN_LICENCE

    @property
    def url(self) -> str:
        """The address of the licence's page at SPDX; empty without an identifier."""
        return f"https://spdx.org/licenses/{self.name}" if self.is_spdx else ""

    @property
    def terms(self) -> tuple[str, ...]:
        """What the licence of Creative Commons forbids or asks for, in words."""
        parts = self.name.split("-")
        return tuple(words for part, words in _TERMS.items() if "CC" in parts and part in parts)

    def __str__(self) -> str:
        return f"{self.name} ({'; '.join(self.terms)})" if self.terms else self.name


def read_licence(name: str) -> Licence:
    """Return the licence that a source calls by a name, such as ``CC BY-SA 4.0``."""
    if parts := _CREATIVE_COMMONS.match(name):
        return Licence(f"CC-{parts[1].upper()}-{parts[2]}")
    return Licence(_IDENTIFIERS.get(name, name))


def read_licences(package: Package) -> tuple[Licence, ...]:
    """Return the licences of the sentences that participants saw, those with most terms first."""
    tables = (table for table in package.tables if table.name == ITEMS.name)
    rows = (row for table in tables if COLUMN in table.column_names for row in package.rows(table))
    texts = dict.fromkeys(str(row[COLUMN] or "") for row in rows)
    names = dict.fromkeys(name for text in texts for name in split_licences(text))
    return tuple(sorted(map(read_licence, names), key=lambda licence: -len(licence.terms)))


def describe_licences(declared: str, of_sentences: Sequence[Licence]) -> str:
    """Return what applies to the answers and to the sentences; empty without such sentences."""
    named = [licence for licence in of_sentences if licence.is_stated]
    parts = [f"the answers: {declared}"] if declared and named else []
    parts += [f"the sentences: {', '.join(map(str, named))}"] if named else []
    if len(named) < len(of_sentences):
        parts.append("some sentences: not stated by their source")
    return "; ".join(parts)
