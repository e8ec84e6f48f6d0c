"""The table of how choices were timed and made, and of how their trials were on the screen."""

from experiment.tables.column import Column, TableSchema
from experiment.tables.roles import Role

TIMINGS = TableSchema(
    "timings",
    "How each choice was timed and made: one row per answered trial. What a browser did not report"
    " is empty.",
    ("participant", "position"),
    (
        Column("participant", "string", "random reference; not a platform's worker id"),
        Column("position", "integer", "the trial's place in the session, from 1", role=Role.ORDER),
        Column(
            "onset_source",
            "string",
            "how the time of the trial's appearance was measured: presentation (reported by the"
            " browser), frames (two animation frames), or empty",
        ),
        Column(
            "onset_uncertainty_ms",
            "number",
            "the uncertainty of that time",
            unit="ms",
            optional=True,
        ),
        Column(
            "release_ms",
            "number",
            "time from appearance to the end of the press; rt_ms is the time to its beginning",
            unit="ms",
            optional=True,
        ),
        Column("times_shown", "integer", "how often the trial was shown", optional=True),
        Column(
            "seen_before_ms",
            "number",
            "how long it had been on the screen before it was shown again, e.g. after a reload",
            unit="ms",
            optional=True,
        ),
        Column("waited_ms", "number", "time from choice to sending", unit="ms", optional=True),
        Column(
            "trusted",
            "boolean",
            "whether the press was a real event of the browser, not one made by a script",
            optional=True,
        ),
        Column(
            "pointer_moves", "integer", "movements of the pointer during the trial", optional=True
        ),
        Column("pointer_path_px", "number", "how far the pointer went", unit="px", optional=True),
        Column(
            "pointer_stopped_ms",
            "number",
            "time from appearance to the pointer's last movement before the press",
            unit="ms",
            optional=True,
        ),
        Column(
            "hidden_ms",
            "number",
            "how long the page was hidden during the trial: behind another window or tab, or while"
            " the screen was off",
            unit="ms",
            optional=True,
        ),
        Column(
            "frames_dropped",
            "integer",
            "frames of the screen that the browser missed during the trial, by the usual time"
            " between two of them",
            unit="frame",
            optional=True,
        ),
        Column(
            "pixel_ratio",
            "number",
            "pixels of the screen to a pixel of the page: the screen's own, times any zoom",
            optional=True,
        ),
        Column(
            "round_trip_ms",
            "number",
            "time from sending the answer before this one to the server's reply; empty of the"
            " first",
            unit="ms",
            optional=True,
        ),
    ),
)
