"""oTree: the table of one app, or of all apps."""

import re

import pandas as pd

from analysis.readers.program import Program

_ROUND_COLUMN = re.compile(r"(.+)\.(\d+)\.(player|group|subsession)\.(.+)")


def _tidy_players(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per player and round; the all-apps table has one row per participant."""
    if any(name.startswith("player.") for name in table.columns):
        return table
    rounds: dict[tuple[str, int], dict[str, str]] = {}
    for column in table.columns:
        if round_match := _ROUND_COLUMN.fullmatch(column):
            app, number, model, field = round_match.groups()
            rounds.setdefault((app, int(number)), {})[column] = f"{model}.{field}"
    shared = [name for name in table.columns if name.startswith(("participant.", "session."))]
    blocks = [
        table[[*shared, *columns]].rename(columns=columns).assign(app=app)
        for (app, _), columns in rounds.items()
    ]
    return pd.concat(blocks, ignore_index=True).fillna("") if blocks else table


PROGRAM = Program(
    name="oTree",
    documentation="| oTree | the table of one app, or of all apps (a row per participant); bots "
    "are left out |",
    columns=("participant.code", "session.code"),
    tidy=_tidy_players,
)
