"""Validators that others publish for an archive's formats, where they are installed."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

Verdict = tuple[str, bool | None, str]
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


class NotInstalledError(Exception):
    """A program that is needed is not there."""


def ran(command: Sequence[object], folder: Path | None = None) -> tuple[int, str]:
    """Run a program; return its status and what it printed, without colours.

    Raises:
        NotInstalledError: It is not there.
    """
    words = [str(one) for one in command]
    if shutil.which(words[0]) is None:
        raise NotInstalledError(f"{words[0]} is not installed")
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, _ANSI.sub("", done.stdout + done.stderr)


def croissant(archive: Path, python: Path) -> Verdict:
    """Validate croissant.json."""
    program = python.parent / "mlcroissant"
    status, text = ran([program, "validate", "--jsonld", archive / "data" / "croissant.json"])
    warnings = len(re.findall(r"\bWARNING\b|Found the following \d+ warning", text))
    return "mlcroissant", status == 0, f"{warnings} warnings"


def frictionless(archive: Path, python: Path) -> Verdict:
    """Validate datapackage.json: every table by its schema, every file by its size and SHA-256."""
    program = python.parent / "frictionless"
    _, text = ran([program, "validate", "--json", archive / "data" / "datapackage.json"])
    found = json.loads(text[text.index("{") :])
    valid = {kind: [one["valid"] for one in found["tasks"] if one["type"] == kind]
             for kind in ("table", "file")}  # fmt: skip
    errors = sorted({error["type"] for one in found["tasks"] for error in one["errors"]})
    said = " and ".join(f"{sum(own)} of {len(own)} {kind}s" for kind, own in valid.items())
    return (
        "frictionless",
        bool(found["valid"]),
        f"{said} valid{': ' * bool(errors)}{', '.join(errors)}",
    )


def verdict(origin: str, step: Callable[[], Verdict] | None) -> tuple[bool | None, str]:
    """Return whether a validator passed, and what it said; or where it can be had."""
    if step is None:
        return None, f"not named ({origin})"
    try:
        _, passed, said = step()
    except NotInstalledError as error:
        return None, f"{error} ({origin})"
    return passed, said
