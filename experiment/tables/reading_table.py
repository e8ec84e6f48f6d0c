"""The table of what was measured of each word or region that participants read."""

from experiment.tables.column import Column, TableSchema
from experiment.tables.judge import JUDGE
from experiment.tables.roles import Role

_KEYS = (
    Column("participant", "string", "random reference; not a platform's worker id"),
    Column("position", "integer", "the trial's place in the session, from 1", role=Role.ORDER),
    Column("step", "integer", "the word's or region's place in the sentence as shown, from 1"),
    Column("item_id", "string", "the item's id within the study"),
    Column("version", "string", "the version that was read"),
    Column("region", "integer", "the region that the step belongs to, from 1"),
    Column("text", "string", "the word or region, as the item has it"),
)
_TIMED = (
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
    (*_KEYS, *_TIMED),
)
# What was chosen word by word against a distractor.
MAZE_READINGS = TableSchema(
    "readings",
    "The Maze: one row per word that was chosen. Exported where trials are a Maze.",
    ("participant", "position", "step"),
    (
        *_KEYS,
        Column("distractor", "string", "the word that stood beside it"),
        Column("side", "string", "where the right word stood", values=("left", "right")),
        Column("correct", "boolean", "whether the right word was chosen first"),
        Column("n_wrong", "integer", "how often the distractor was chosen", unit="press"),
        Column(
            "done_ms",
            "number",
            "from the painting to the choice of the right word; empty where the sentence ended",
            unit="ms",
            optional=True,
        ),
        *_TIMED,
    ),
)
