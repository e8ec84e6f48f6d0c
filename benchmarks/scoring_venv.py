"""The virtual environment in which others' programs run, for ``benchmarks/scoring.py``."""

import subprocess
import sys
from pathlib import Path

PACKAGES = ("minicons", "lm_eval", "dill", "progress")


def python_of(folder: Path) -> str:
    """Return the environment's Python; the environment is made if it is not there."""
    python = folder.absolute() / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    return str(python)
