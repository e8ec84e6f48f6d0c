"""Tables that an export has where a study asks for them: the trace of trials, and humanness."""

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
HUMANNESS = TableSchema(
    "humanness",
    "Answers to trials that people and programs are known to answer differently: one row per answer"
    " to an item of the block. Only of studies with [humanness]. The rates are published ones, of"
    " the file that the study names; they are no measurement of this run.",
    ("participant", "item_id"),
    (
        Column("participant", "string", "random reference; not a platform's worker id"),
        Column("item_id", "string", "the item's id within the study"),
        Column("passed", "boolean", "whether the item was answered as expected"),
        Column(
            "people_rate",
            "number",
            "the published share of people who do so; empty where there is none",
            optional=True,
        ),
        Column("programs_rate", "number", "that of programs, likewise", optional=True),
        Column(
            "nats",
            "number",
            "log ratio of the two shares of such an answer: above 0 where programs give it more"
            " often; half an answer is added to each count",
            unit="nat",
            optional=True,
        ),
        JUDGE,
    ),
)
