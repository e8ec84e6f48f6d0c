"""The table of what happened within trials, of studies that ask for it."""

from experiment.tables.column import Column, TableSchema
from experiment.tables.judge import JUDGE
from experiment.tables.roles import Role

TRACES = TableSchema(
    "traces",
    "The paths of pointers and fingers, and when keys went down and up: one row per moment of an"
    " answered trial. Only of studies with traces = true.",
    ("participant", "position", "moment"),
    (
        Column("participant", "string", "random reference; not a platform's worker id"),
        Column("position", "integer", "the trial's place in the session, from 1", role=Role.ORDER),
        Column("moment", "integer", "the moment's place among those of the trial, from 1"),
        Column(
            "kind",
            "string",
            "what happened: a mouse or pen, or a finger, moved, or a key went down or up",
            values=("mouse", "touch", "key_down", "key_up"),
        ),
        Column(
            "at_ms",
            "integer",
            "when: from the drawing of the trial, one or two frames before the painting from which"
            " rt_ms counts",
            unit="ms",
        ),
        Column("x_px", "integer", "from the window's left edge; empty of keys", "CSS px", True),
        Column("y_px", "integer", "from its upper edge; empty of keys", "CSS px", True),
        JUDGE,
    ),
)
