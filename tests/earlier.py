"""The files that commit 92008c70 wrote, for the tests that open them with the present code."""

import json
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

EARLIER = Path(__file__).parent / "data" / "earlier"
COMMIT = "92008c70"


def unpack(name: str, folder: Path) -> Path:
    """Unpack one archive of those files (sqlite, postgresql, science) into a new folder."""
    folder.mkdir(mode=0o700)
    with tarfile.open(EARLIER / COMMIT / f"{name}.tar.xz") as archive:
        # Python 3.11 has filters since 3.11.4.
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(folder, **safely)  # type: ignore[arg-type]
    return folder


@cache
def figures() -> dict[str, Any]:
    """Return what the files held when they were made."""
    return json.loads((EARLIER / COMMIT / "figures.json").read_text("utf-8"))
