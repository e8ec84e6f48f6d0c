"""The findings that checks report."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from sqlalchemy import Engine

from webapp.core.clock import Clock
from webapp.core.settings import Settings


class Level(IntEnum):
    """The severity of a finding; the number is the metric's value."""

    GOOD = 0
    WARNING = 1
    FAULT = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report.

    Attributes:
        check: The name of the check, in a word.
        level: The severity.
        text: The finding.
        remedy: What to do about it; empty if nothing.
    """

    check: str
    level: Level
    text: str
    remedy: str = ""

    def __str__(self) -> str:
        """Return the finding as a line of text."""
        remedy = f" -> {self.remedy}" if self.remedy else ""
        return f"{self.level.name.lower():<9}{self.check:<14}{self.text}{remedy}"


@dataclass(frozen=True, slots=True)
class Installation:
    """The installation to check.

    Attributes:
        folder: The instance folder.
        settings: Its settings.
        engine: Its database; None if the database cannot be used.
        database_error: Why the database cannot be used.
        now: The clock.
    """

    folder: Path
    settings: Settings
    engine: Engine | None
    database_error: str
    now: Clock


def json_text(findings: Iterable[Finding]) -> str:
    """Return findings as a JSON list of objects; ``level`` is the level's name in lower case."""
    return json.dumps(
        [
            {
                "check": finding.check,
                "level": finding.level.name.lower(),
                "says": finding.text,
                "remedy": finding.remedy,
            }
            for finding in findings
        ],
        indent=2,
    )


def metrics_text(findings: Iterable[Finding]) -> str:
    """Return findings in Prometheus' text format: the worst of each check."""
    worst: dict[str, Level] = {}
    for finding in findings:
        worst[finding.check] = max(worst.get(finding.check, Level.GOOD), finding.level)
    lines = [
        "# HELP parallax_doctor The result of a check: 0 good, 1 warning, 2 fault",
        "# TYPE parallax_doctor gauge",
        *(f'parallax_doctor{{check="{name}"}} {level:d}' for name, level in worst.items()),
    ]
    return "\n".join(lines) + "\n"
