"""Other platforms: each in an environment of its own, which is made where it is missing."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

TRIALS = 76


class NotInstalledError(Exception):
    """A peer is not on this machine and cannot be installed; the measurement goes on without."""


OTREE = ("otree==6.0.15",)
# The last versions that psiTurk 3.3.1 works with and does not ask for itself.
PSITURK = ("psiturk==3.3.1", "cryptography==38.0.4", "setuptools<81")


def environment(folder: Path, name: str, requirements: Sequence[str]) -> Path:
    """Return the folder of an environment's programs; a finished one is used again.

    Raises:
        NotInstalledError: The requirements cannot be installed.
    """
    root = folder / name
    programs, finished = root / "bin", root / "finished"
    if not finished.exists():
        print(f"Installing {requirements[0]} into {root} ...", file=sys.stderr)
        # This interpreter's own pip installs into it: to give it one takes longer than all else.
        venv = [sys.executable, "-m", "venv", "--clear", "--without-pip", str(root)]
        subprocess.run(venv, check=True)
        pip = [sys.executable, "-m", "pip", "--python", str(programs / "python")]
        pip += ["--disable-pip-version-check", "install", "--quiet", *requirements]
        installed = subprocess.run(pip, capture_output=True, text=True)
        if installed.returncode:
            *_, reason = ["pip failed", *installed.stderr.strip().splitlines()]
            raise NotInstalledError(f"{requirements[0]} is left out: {reason}")
        finished.touch()
    return programs
