"""Published data that some tests read from outside the repository.

They lie in ../shared/data, or in the folder that PUBLISHED_DATA names. Without them these
tests are skipped; the summary counts them.
"""

import os
from pathlib import Path

import pytest

_BESIDE = Path(__file__).parents[2] / "shared" / "data"
FOLDER = Path(os.environ.get("PUBLISHED_DATA") or _BESIDE)
COLORLESS_GREEN = FOLDER / "colorless_green"
ENGLISH_WEB_TREEBANK = FOLDER / "universal_dependencies_2.16" / "english_ewt.conllu.gz"
UNIVERSAL_DEPENDENCIES = FOLDER / "universal_dependencies_2.0"


# Where the files of each folder come from, and the page with the commands.
SOURCES = {
    "colorless_green": "https://github.com/facebookresearch/colorlessgreenRNNs, data/",
    "universal_dependencies_2.0": "https://github.com/UniversalDependencies/UD_English-EWT and "
    "UD_Italian-ISDT, tags r2.0 and r2.0-test",
    "universal_dependencies_2.16": "https://github.com/UniversalDependencies/UD_English-EWT, r2.16",
    "prolific": "https://github.com/api-evangelist/prolific, openapi/_original/",
}
COMMANDS = "docs/decisions/published-data.md"


def needs(path: Path) -> pytest.MarkDecorator:
    """Mark a test, or a module, that is skipped where a file or folder is absent."""
    return pytest.mark.skipif(not path.exists(), reason=_absent(path))


def require(path: Path) -> Path:
    """Return a file or folder; a test that calls this without it is skipped."""
    if not path.exists():
        pytest.skip(_absent(path))
    return path


def _absent(path: Path) -> str:
    place = path.relative_to(FOLDER)
    return (
        f"published data are not at {FOLDER}: {place} (from {SOURCES[place.parts[0]]}; "
        f"the commands that put it in place are in {COMMANDS})"
    )
