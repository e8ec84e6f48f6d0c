"""Other platforms: each in an environment of its own, which is made where it is missing."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

TRIALS = 76
OTREE = ("otree==6.0.15",)
# The last versions that psiTurk 3.3.1 works with and does not ask for itself.
PSITURK = ("psiturk==3.3.1", "cryptography==38.0.4", "setuptools<81")


def environment(folder: Path, name: str, requirements: Sequence[str]) -> Path:
    """Return the folder of an environment's programs; a finished one is used again."""
    root = folder / name
    programs, finished = root / "bin", root / "finished"
    if not finished.exists():
        print(f"Installing {requirements[0]} into {root} ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(root)], check=True)
        pip = [str(programs / "python"), "-m", "pip", "--disable-pip-version-check", "install"]
        subprocess.run([*pip, "--quiet", *requirements], check=True)
        finished.touch()
    return programs
