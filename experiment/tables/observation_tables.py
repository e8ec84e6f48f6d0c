"""The tables that describe how each session took place: its events and its plausibility."""

from collections.abc import Mapping

from experiment.participation import EventKind
from experiment.tables.column import Column, TableSchema

_PARTICIPANT = Column("participant", "string", "random reference; not a platform's worker id")

# The codebook of the column ``kind``.
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
