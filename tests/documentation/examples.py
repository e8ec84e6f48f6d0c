"""The examples that the pages show, taken out of the pages themselves to be run.

A fenced block whose first line names the example after the language, as in ```` ```ini unit ````,
is an example that a test runs: what a reader copies is what was run. Names are unique among all
pages.
"""

import re
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```[a-z]+ ([a-z][a-z0-9-]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def named_blocks(page: str) -> dict[str, str]:
    """Return the text of every named block of a page by its name."""
    return dict(_BLOCK.findall(page))


def examples() -> dict[str, str]:
    """Return the text of every named block of all pages.

    Raises:
        AssertionError: Two blocks have one name.
    """
    found: dict[str, str] = {}
    for path in sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")]):
        for name, text in _BLOCK.findall(path.read_text(encoding="utf-8")):
            assert name not in found, f"{path}: a second example named {name}"
            found[name] = text
    return found


def adapted(example: str, places: Mapping[str, object]) -> str:
    """Return an example with its places exchanged for those of a test.

    Raises:
        AssertionError: It no longer names one of them, so that the test would run something else.
    """
    for place, own in places.items():
        assert place in example, f"the example does not name {place} any more"
        example = example.replace(place, str(own))
    return example
