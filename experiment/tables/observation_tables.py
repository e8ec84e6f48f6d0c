"""The exported tables of measurements and observations of a session."""

from collections.abc import Mapping

from experiment.participation import EventKind
from experiment.tables.column import JUDGE, Column, Role, TableSchema

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


STEP_KEYS = (
    Column("participant", "string", "random reference; not a platform's worker id"),
    Column("position", "integer", "the trial's place in the session, from 1", role=Role.ORDER),
    Column("step", "integer", "the word's or region's place in the sentence as shown, from 1"),
    Column("item_id", "string", "the item's id within the study"),
    Column("version", "string", "the version that was read"),
    Column("region", "integer", "the region that the step belongs to, from 1"),
    Column("text", "string", "the word or region, as the item has it"),
)
RELATIVE_REGION = Column(
    "relative_region",
    "integer",
    "the region's place relative to the critical one: 0 for the critical region, -1 for the one "
    "before it; empty where the item names none",
    optional=True,
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
# Reading times by word or by region.
READINGS = TableSchema(
    "readings",
    "Reading times: one row per word or region that was read. Exported where trials are read step "
    "by step.",
    ("participant", "position", "step"),
    (*STEP_KEYS, *STEP_TIMES),
)


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

_PARTICIPANT = Column("participant", "string", "random reference; not a platform's worker id")

# The meanings of the column ``kind``, for the codebook.
EVENT_KINDS: Mapping[EventKind, str] = {
    EventKind.PREMATURE_PRESS: "a press too early to be a choice",
    EventKind.SHOWN_OTHERWISE: "a trial was not on the screen as it was sent",
    EventKind.LATE_ANSWER: "a second, different answer to a trial",
    EventKind.SECOND_DEVICE: "the session was opened on another device",
    EventKind.COMPREHENSION_WRONG: "wrong answers about the instructions",
    EventKind.PASTED: "text was pasted into a questionnaire answer",
    EventKind.ASSENTED: "the participant agreed as well, to the consent text that is named",
    EventKind.LEFT: "ended the session before the last trial",
    EventKind.WITHDRAWN: "stopped; the answers are kept",
    EventKind.ERASED: "stopped; the answers were erased",
    EventKind.FORGOTTEN: "the participant's identifying data were deleted",
    EventKind.CORRECTED: "the participant had an answer of a form corrected",
    EventKind.RESTRICTED: "the participant had the data stored and not used from here on",
    EventKind.RELEASED: "the data may be used again",
}

EVENTS = TableSchema(
    "events",
    "What happened besides the answers, in order: presses that came too early, second answers,"
    " further devices, leaving.",
    ("participant", "event"),
    (
        _PARTICIPANT,
        Column("event", "integer", "the event's number among the participant's, from 1"),
        Column(
            "kind",
            "string",
            ", ".join(f"{kind} ({meaning})" for kind, meaning in EVENT_KINDS.items()),
        ),
        Column("detail", "string", "details, as a JSON object of texts"),
        Column("at", "datetime", "the server's clock (UTC), or without a server the browser's"),
    ),
)

INTEGRITY = TableSchema(
    "integrity",
    "How plausible each session is, by the server's clock and the browser's measurements:"
    " evidence, never a verdict (docs/integrity.md). One row per participant who answered a trial.",
    ("participant",),
    (
        _PARTICIPANT,
        Column("n_answers", "integer", "the number of stored answers"),
        Column(
            "claimed_ms",
            "number",
            "the sum of the reaction times that the browser reported",
            unit="ms",
        ),
        Column(
            "elapsed_ms",
            "number",
            "time from the consent to the last answer's arrival, by the server's clock",
            unit="ms",
            optional=True,
        ),
        Column(
            "excess_ms",
            "number",
            "the most by which the reported times exceed the time that had passed when an answer"
            " arrived; negative if they never do",
            unit="ms",
            optional=True,
        ),
        Column(
            "n_too_early",
            "integer",
            "answers with reaction times at which the page accepts no press",
        ),
        Column(
            "n_intervals", "integer", "answers whose reported time could be compared with arrivals"
        ),
        Column(
            "mismatch_share",
            "number",
            "the share of these in which the two differ by more than a second",
            optional=True,
        ),
        Column(
            "unexplained_ms",
            "number",
            "over pairs of successive answers, the median of the time that the reported times do"
            " not account for",
            unit="ms",
            optional=True,
        ),
        Column(
            "n_untrusted",
            "integer",
            "presses that came from a script in the page, not from the browser",
        ),
        Column("n_unmeasured", "integer", "answers without the measurements that the page takes"),
        Column("n_hidden", "integer", "answers during which the page was hidden"),
        Column("n_unfocused", "integer", "answers during which the page lost focus"),
        Column("n_shown_again", "integer", "trials that had been shown before"),
        Column(
            "seen_before_ms", "number", "how long those had been shown before, in all", unit="ms"
        ),
        Column("n_premature", "integer", "presses that came too early to be choices"),
        Column("n_pasted", "integer", "questionnaire answers into which text was pasted"),
        Column("n_devices", "integer", "devices on which the session was opened"),
        Column("device_facts", "integer", "facts that the first device reported, 0 to 4"),
        Column("hold_ms", "number", "the median duration of a press", unit="ms", optional=True),
        Column(
            "path_variation",
            "number",
            "the coefficient of variation of the lengths of the mouse's paths between options",
            optional=True,
        ),
        Column(
            "log_rt_sd",
            "number",
            "the standard deviation of log reaction times",
            unit="nat",
            optional=True,
        ),
        Column(
            "length_correlation",
            "number",
            "correlation of log reaction times with the length of the texts (Pearson)",
            optional=True,
        ),
        Column(
            "autocorrelation",
            "number",
            "correlation of log reaction times with those of the preceding trial (Pearson)",
            optional=True,
        ),
        Column(
            "n_copied",
            "integer",
            "answers with exactly the times of another participant of the run",
            optional=True,
        ),
        Column(
            "signals",
            "string",
            "what each signal says for a program, 0 where it does not speak or count, as name=nats"
            " joined by spaces",
        ),
        Column(
            "agent_likelihood",
            "number",
            "the signals' score, from 0 to 1; not a probability",
            optional=True,
        ),
        Column(
            "flags",
            "string",
            "the rules whose default bounds the session exceeds, joined by spaces; empty in"
            " simulated runs",
        ),
    ),
)
