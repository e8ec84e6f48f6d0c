"""The table of answers to the humanness block, of studies that have one."""

from experiment.tables.column import Column, TableSchema
from experiment.tables.judge import JUDGE

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
