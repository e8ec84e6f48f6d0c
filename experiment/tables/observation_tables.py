"""The tables of what a session's records tell of how it came about."""

from collections.abc import Mapping

from experiment.participation import EventKind
from experiment.tables.column import Column, TableSchema

_PARTICIPANT = Column("participant", "string", "random reference; not a platform's worker id")

# The codebook of the column ``kind``.
EVENT_KINDS: Mapping[EventKind, str] = {
    EventKind.PREMATURE_PRESS: "was no choice",
    EventKind.LATE_ANSWER: "a second, different answer to a trial",
    EventKind.SECOND_DEVICE: "the session was opened elsewhere, too",
    EventKind.COMPREHENSION_WRONG: "wrong answers about the instructions",
    EventKind.PASTED: "into an answer of the questionnaire",
    EventKind.LEFT: "ended before the last trial",
    EventKind.WITHDRAWN: "stopped, and kept what was given",
    EventKind.ERASED: "stopped, and had it erased",
    EventKind.FORGOTTEN: "nothing leads to them any more",
}

EVENTS = TableSchema(
    "events",
    "What happened beside the answers, in order: presses that came too early, second answers,"
    " further devices, leaving.",
    ("participant", "event"),
    (
        _PARTICIPANT,
        Column("event", "integer", "the event's place among the participant's, from 1"),
        Column(
            "kind",
            "string",
            ", ".join(f"{kind} ({meaning})" for kind, meaning in EVENT_KINDS.items()),
        ),
        Column("detail", "string", "what is known of it, as a JSON object of texts"),
        Column("at", "datetime", "the server's clock (UTC)"),
    ),
)

INTEGRITY = TableSchema(
    "integrity",
    "How each session came about, by the server's clock and the browser's measurements: evidence,"
    " never a verdict (docs/integrity.md). One row per participant who answered a trial.",
    ("participant",),
    (
        _PARTICIPANT,
        Column("n_answers", "integer", "stored answers"),
        Column("claimed_ms", "number", "the sum of the claimed reaction times", unit="ms"),
        Column(
            "elapsed_ms",
            "number",
            "from the consent to the last arrival, by the server's clock",
            unit="ms",
            optional=True,
        ),
        Column(
            "excess_ms",
            "number",
            "by how much the claims exceed what passed until some arrival, at most; negative where"
            " there is room left",
            unit="ms",
            optional=True,
        ),
        Column("n_too_early", "integer", "answers with times at which the page takes no press"),
        Column("n_intervals", "integer", "answers whose claim could be compared with arrivals"),
        Column(
            "mismatch_share",
            "number",
            "the share of them that lie more than a second apart",
            optional=True,
        ),
        Column(
            "unexplained_ms",
            "number",
            "the median time between two answers that no claim explains",
            unit="ms",
            optional=True,
        ),
        Column("n_untrusted", "integer", "presses that the browser did not see itself"),
        Column("n_unmeasured", "integer", "answers without the measurements that the page takes"),
        Column("n_hidden", "integer", "answers during which the page was hidden"),
        Column("n_unfocused", "integer", "answers during which it lost focus"),
        Column("n_shown_again", "integer", "trials that had been on the screen before"),
        Column("seen_before_ms", "number", "for how long they had been, together", unit="ms"),
        Column("n_premature", "integer", "presses that came too early to be choices"),
        Column("n_pasted", "integer", "questionnaire answers into which something was pasted"),
        Column("n_devices", "integer", "devices on which the session was opened"),
        Column("device_facts", "integer", "facts that the first of them told, 0 to 4"),
        Column(
            "hold_ms", "number", "how long presses last, in the median", unit="ms", optional=True
        ),
        Column(
            "path_variation",
            "number",
            "the coefficient of variation of the mouse's ways between options",
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
            "how log reaction times go with the length of the texts (Pearson)",
            optional=True,
        ),
        Column(
            "autocorrelation",
            "number",
            "how they go with those of the trial before (Pearson)",
            optional=True,
        ),
        Column(
            "n_copied",
            "integer",
            "answers with the very times of somebody else's in the run",
            optional=True,
        ),
        Column(
            "signals",
            "string",
            "what speaks for a program (above 0) or a person (below), as name=nats joined by"
            " spaces",
        ),
        Column(
            "agent_likelihood",
            "number",
            "their score from 0 to 1; no probability",
            optional=True,
        ),
        Column(
            "flags",
            "string",
            "the rules beyond whose default bounds the session lies, joined by spaces; empty in"
            " simulated runs",
        ),
    ),
)
