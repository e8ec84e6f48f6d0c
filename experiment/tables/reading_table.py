"""The table of what was measured of each word or region that participants read."""

from experiment.tables.column import Column, TableSchema
from experiment.tables.judge import JUDGE
from experiment.tables.roles import Role

STEP_KEYS = (
    Column("participant", "string", "random reference; not a platform's worker id"),
    Column("position", "integer", "the trial's place in the session, from 1", role=Role.ORDER),
    Column("step", "integer", "the word's or region's place in the sentence as shown, from 1"),
    Column("item_id", "string", "the item's id within the study"),
    Column("version", "string", "the version that was read"),
    Column("region", "integer", "the region that the step belongs to, from 1"),
    Column("text", "string", "the word or region, as the item has it"),
)
STEP_TIMES = (
    Column(
        "rt_ms",
        "number",
        "from the step's painting to the beginning of the press",
        unit="ms",
        optional=True,
    ),
    Column(
        "onset_ms",
        "number",
        "when the step was painted, counted from the painting of the first one",
        unit="ms",
        optional=True,
    ),
    Column(
        "onset_source",
        "string",
        "how the painting was measured: presentation (reported by the browser), frames (two "
        "animation frames), or empty",
    ),
    Column(
        "onset_uncertainty_ms",
        "number",
        "the uncertainty of that time",
        unit="ms",
        optional=True,
    ),
    JUDGE,
)
# What was read word by word, or region by region.
READINGS = TableSchema(
    "readings",
    "Reading times: one row per word or region that was read. Exported where trials are read step "
    "by step.",
    ("participant", "position", "step"),
    (*STEP_KEYS, *STEP_TIMES),
)
