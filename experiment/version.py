"""Which code ran: kept with every run and every export."""

import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

# What package indexes call Parallax: there the name "parallax" is somebody else's.
DISTRIBUTION = "parallax-experiments"
_ROOT = Path(__file__).resolve().parent.parent


def code_version() -> str:
    """Return the package's version, in a checkout with the commit: ``0.1.0+g4bbac9e.dirty``.

    ``dirty`` says that files differed from that commit, so that the commit alone does not give
    the code back.
    """
    try:
        released = version(DISTRIBUTION)
    except PackageNotFoundError:
        released = "0"
    commit = _commit()
    return f"{released}+g{commit}" if commit else released


def _commit() -> str:
    # An installed package may lie inside somebody else's checkout, whose commit says nothing.
    if not (_ROOT / ".git").exists() or shutil.which("git") is None:
        return ""
    described = subprocess.run(
        ["git", "-C", str(_ROOT), "describe", "--always", "--exclude=*", "--dirty=.dirty"],
        capture_output=True,
        text=True,
        check=False,
    )
    return described.stdout.strip()
