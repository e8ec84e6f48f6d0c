"""The virtual environment of third-party programs, for ``benchmarks/scoring.py``."""

from functools import cache
from pathlib import Path

from load_platforms.peers import NotInstalledError, environment

PACKAGES = ("minicons", "lm_eval")


def python_of(folder: Path) -> str | None:
    """Return the environment's Python, made if it is not there; say so where it cannot be made."""
    python, trouble = _made(folder.absolute())
    if trouble:
        print(f"  {trouble}")
    return python


@cache
def _made(folder: Path) -> tuple[str | None, str]:
    """Return the environment's Python or what is wrong; what failed once is not tried again."""
    try:
        return str(environment(folder.parent, folder.name, PACKAGES) / "python"), ""
    except NotInstalledError as error:
        return None, str(error)
