"""Sessions kept in a file, so that programs need not take part again to be judged anew."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agent_bench.seen import SeenAnswer
from experiment.integrity.observed import ObservedSession


def keep(path: Path, sessions: Mapping[str, Sequence[ObservedSession]]) -> None:
    """Write sessions by kind."""
    rows = {kind: [_plain(one) for one in of] for kind, of in sessions.items()}
    path.write_text(json.dumps(rows), encoding="utf-8")


def kept(path: Path) -> dict[str, list[ObservedSession]]:
    """Return the sessions of a file by kind."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    return {kind: [_session(one) for one in of] for kind, of in rows.items()}


def _plain(session: ObservedSession) -> dict[str, Any]:
    return {**asdict(session), "after_pauses": sorted(session.after_pauses)}


def _session(row: dict[str, Any]) -> ObservedSession:
    answers = tuple(SeenAnswer(**one) for one in row["answers"])
    return ObservedSession(
        **{**row, "answers": answers, "after_pauses": frozenset(row["after_pauses"])}
    )
