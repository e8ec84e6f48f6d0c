"""The code version, which is stored with every run and every export."""

import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

# Parallax's name in package indexes, where "parallax" is a different project.
DISTRIBUTION = "parallax-experiments"
_ROOT = Path(__file__).resolve().parent.parent


def code_version() -> str:
    """Return the package version, in a checkout with the commit: ``0.1.0+g4bbac9e.dirty``.

    ``dirty`` means that files differed from the commit, so that the commit alone does not identify
    the code.
    """
    try:
        released = version(DISTRIBUTION)
    except PackageNotFoundError:
        released = "0"
    commit = _commit()
    return f"{released}+g{commit}" if commit else released


def _commit() -> str:
    # An installed package may be inside an unrelated checkout, whose commit is irrelevant.
    if not (_ROOT / ".git").exists() or shutil.which("git") is None:
        return ""
    described_commit = subprocess.run(
        ["git", "-C", str(_ROOT), "describe", "--always", "--exclude=*", "--dirty=.dirty"],
        capture_output=True,
        text=True,
        check=False,
    )
    return described_commit.stdout.strip()
