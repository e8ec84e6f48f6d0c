"""What a check reports."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from sqlalchemy import Engine

from webapp.core.clock import Clock
from webapp.core.settings import Settings


class Level(IntEnum):
    """How it stands; the number is the metric's value."""

    GOOD = 0
    WARNING = 1
    FAULT = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report.

    Attributes:
        check: What was looked at, in a word.
        level: How it stands.
        says: What was found.
        remedy: What to do about it; empty where nothing is.
    """

    check: str
    level: Level
    says: str
    remedy: str = ""

    def __str__(self) -> str:
        """Return the line."""
        remedy = f" -> {self.remedy}" if self.remedy else ""
        return f"{self.level.name.lower():<9}{self.check:<14}{self.says}{remedy}"


@dataclass(frozen=True, slots=True)
class Installation:
    """What is looked over.

    Attributes:
        folder: The instance folder.
        settings: Its settings.
        engine: Its database; None where it cannot be used.
        trouble: Why it cannot.
        now: The clock.
    """

    folder: Path
    settings: Settings
    engine: Engine | None
    trouble: str
    now: Clock


def json_text(findings: Iterable[Finding]) -> str:
    """Return findings as a JSON list of objects; ``level`` is its name in lower case."""
    return json.dumps(
        [
            {
                "check": finding.check,
                "level": finding.level.name.lower(),
                "says": finding.says,
                "remedy": finding.remedy,
            }
            for finding in findings
        ],
        indent=2,
    )


def metrics_text(findings: Iterable[Finding]) -> str:
    """Return findings as Prometheus reads them from a file: the worst of each check."""
    worst: dict[str, Level] = {}
    for finding in findings:
        worst[finding.check] = max(worst.get(finding.check, Level.GOOD), finding.level)
    lines = [
        "# HELP parallax_doctor How a check stands: 0 good, 1 warning, 2 fault",
        "# TYPE parallax_doctor gauge",
        *(f'parallax_doctor{{check="{name}"}} {level:d}' for name, level in worst.items()),
    ]
    return "\n".join(lines) + "\n"
