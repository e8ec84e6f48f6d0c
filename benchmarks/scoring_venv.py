"""The virtual environment in which others' programs run, for ``benchmarks/scoring.py``."""

from pathlib import Path

from load_platforms.peers import NotInstalledError, environment

PACKAGES = ("minicons", "lm_eval", "dill", "progress")


def python_of(folder: Path) -> str | None:
    """Return the environment's Python, made if it is not there; say so where it cannot be made."""
    try:
        return str(environment(folder.absolute().parent, folder.name, PACKAGES) / "python")
    except NotInstalledError as error:
        print(f"  {error}")
        return None
