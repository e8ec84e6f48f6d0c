"""The definition of every table that Parallax reads or writes: columns, types, units.

The web application writes these tables, the analysis checks them, and the codebook is generated
from them. ``experiment.tables.files`` reads and writes the files.
"""

from experiment.participation import Ending
from experiment.records import PAIR, SIDES, Kind, Variant
from experiment.tables.column import JUDGE, Column, Role, TableSchema
from experiment.tables.observation_tables import EVENTS, INTEGRITY, TIMINGS

_ITEM_ID = Column("item_id", "string", "the item's id within the study")
_KIND = Column("kind", "string", "what the item is for", values=tuple(Kind), role=Role.KIND)
_CONSTRUCTION = Column("construction", "string", "the construction the item counts towards")
_CONDITION = Column("condition", "string", "the condition within the construction")
_PARTICIPANT = Column("participant", "string", "random reference; not a platform's worker id")
_POSITION = Column(
    "position", "integer", "the trial's place in the session, from 1", role=Role.ORDER
)

ITEMS = TableSchema(
    "items",
    "The materials: one row per minimal pair (or triple).",
    ("item_id",),
    (
        _ITEM_ID,
        _KIND,
        _CONSTRUCTION,
        _CONDITION,
        Column("template", "string", "the template that generated the item"),
        Column("features", "string", "the condition's features as name=value, joined by spaces"),
        Column(
            "frame",
            "string",
            "the lexical choices as SLOT=lemma, joined by spaces",
            role=Role.UNIT,
        ),
        Column("context", "string", "the words before the options; empty for whole sentences"),
        Column("good", "string", "the expected option, as plain words"),
        Column("bad", "string", "the option that breaks the rule, as plain words"),
        Column("distractor", "string", "a third version, as plain words; may be empty"),
        Column(
            "contrast",
            "string",
            "the version compared with good in the forced choice",
            values=(Variant.BAD, Variant.DISTRACTOR),
        ),
    ),
)

LISTS = TableSchema(
    "lists",
    "The design: one row per item of a list.",
    ("list", "item_id"),
    (Column("list", "integer", "the list's number, from 0", role=Role.LIST), _ITEM_ID, _KIND),
)

# The strata of frames that models separate: they agree on all of a frame's items, or differ.
AGREE, DIFFER = "agree", "differ"
INCLUSION = TableSchema(
    "inclusion",
    "The frames that could be drawn: one row per frame of a template, drawn or not.",
    ("template", "frame"),
    (
        Column("template", "string", "the template that the frame belongs to"),
        Column("frame", "string", "the frame, as in the table of items"),
        Column(
            "difference",
            "number",
            "how much the models differ on the frame: the share of its items on which they "
            "disagree, or of scores the mean absolute difference in standard deviations",
        ),
        Column("stratum", "string", "whether models differ on the frame", values=(AGREE, DIFFER)),
        Column("probability", "number", "the probability that the frame is drawn"),
        Column("models", "string", "the models that the frames separate, joined by semicolons"),
        Column("pair", "integer", "the pair of frames that can exchange words", optional=True),
        Column("exchange", "integer", "which frames of a pair are drawn together", optional=True),
    ),
)

UNCONFIRMED = "unconfirmed"
_CLOCK = " (UTC; without a server by the browser's clock)"

PARTICIPANTS = TableSchema(
    "participants",
    "One row per participant, in order of arrival.",
    ("participant",),
    (
        _PARTICIPANT,
        Column("number", "integer", "the order of arrival in the run, from 1", role=Role.ORDER),
        Column("simulated", "boolean", "true when a program answered, not a person"),
        Column("state", "string", "how far the participant got"),
        Column(
            "list",
            "integer",
            "the list that the participant was assigned",
            optional=True,
            role=Role.LIST,
        ),
        Column("place", "integer", "the participant's place in the list, from 0", optional=True),
        Column("arrived_at", "datetime", "when the participant opened the link" + _CLOCK),
        Column("consented_at", "datetime", f"when they consented{_CLOCK}", optional=True),
        Column(
            "returned_at", "datetime", "when they came back after a long silence", optional=True
        ),
        Column("finished_at", "datetime", f"when they finished{_CLOCK}", optional=True),
        JUDGE,
    ),
)

CONSENTS = TableSchema(
    "consents",
    "The consent text that each participant agreed to. The folder `consent` holds the texts.",
    ("participant",),
    (
        _PARTICIPANT,
        Column("consent_version", "integer", "the version among the run's consent texts, from 1"),
        Column("consent_sha256", "string", "the SHA-256 of the text's file"),
    ),
)

# A separate table, so that exports of earlier versions do not lack a column.
ENDINGS = TableSchema(
    "endings",
    "How each visit ended, and its status on the recruiting platform.",
    ("participant",),
    (
        _PARTICIPANT,
        Column(
            "ending",
            "string",
            f"how the visit ended: {', '.join(Ending)}; empty if it has not ended, or if `state`"
            " already says how",
        ),
        Column(
            "platform_status",
            "string",
            "the submission's status as the platform last reported it; empty if no platform pays:"
            " reserved, active, submitted, approved, rejected, returned, timed_out, screened_out,"
            f" partially_approved; {UNCONFIRMED} if another session has the same platform id and"
            " the platform has not said which of the two did the work; no other table has such a"
            " participant",
        ),
    ),
)

DEVICES = TableSchema(
    "devices",
    "What each participant's browsers reported. Nothing else is stored about a device.",
    ("participant", "device"),
    (
        _PARTICIPANT,
        Column(
            "device",
            "integer",
            "1: the device on which the session began; later ones in order",
        ),
        Column("user_agent_family", "string", "the browser's family, e.g. Firefox; may be empty"),
        Column(
            "refresh_rate_hz",
            "number",
            "the screen's refresh rate, estimated",
            unit="Hz",
            optional=True,
        ),
        Column(
            "time_zone_offset_min",
            "integer",
            "how far local time is ahead of UTC",
            unit="min",
            optional=True,
        ),
        Column("language", "string", "the browser's language; may be empty"),
        Column(
            "automated",
            "boolean",
            "whether the browser reports that a program controls it",
            optional=True,
        ),
    ),
)

ANSWERS = TableSchema(
    "answers",
    "The questionnaire: one row per answered field.",
    ("participant", "field"),
    (
        _PARTICIPANT,
        Column("field", "string", "the field's name in study.toml"),
        Column("value", "string", "the answer as given", is_free_text=True),
    ),
)

TRIALS = TableSchema(
    "trials",
    "The trials of each participant's session, answered or not: one row per trial.",
    ("participant", "position"),
    (
        _PARTICIPANT,
        _POSITION,
        _ITEM_ID,
        _KIND,
        Column("good_side", "string", "the side of the expected option", values=PAIR),
        JUDGE,
    ),
)

_RT_MS = Column(
    "rt_ms",
    "number",
    "reaction time: from the trial's appearance on the screen to the choice",
    unit="ms",
    optional=True,
)
# The measurements of every answer given in a browser.
MEASURED_COLUMNS = (
    _RT_MS,
    Column("input_method", "string", "how the choice was made: key, pointer or touch"),
    Column("viewport_width_px", "integer", "the page's width", unit="px", optional=True),
    Column("viewport_height_px", "integer", "the page's height", unit="px", optional=True),
    Column("was_hidden", "boolean", "whether the page was hidden during the trial", optional=True),
    Column("lost_focus", "boolean", "whether the page lost focus during the trial", optional=True),
    Column("client_time", "datetime", "the browser's clock at the choice", optional=True),
)
# The measurements of a forced choice in a browser, independent of its presentation.
CHOICE_COLUMNS = (
    Column("chosen_side", "string", "the side of the chosen option", values=PAIR),
    Column("chose_good", "boolean", "whether the expected option was chosen"),
    *MEASURED_COLUMNS,
)
_GOOD_SIDE = "the side of the expected option"
# Columns of trials and responses for response types that do not show a pair.
OPTIONS_COLUMN = Column(
    "options", "string", "the versions on the screen in their order, joined by spaces"
)
SEVERAL_SIDES_COLUMN = Column("good_side", "string", _GOOD_SIDE, values=SIDES)
RATED_SIDE_COLUMN = Column(
    "good_side", "string", "first if the good version was rated", optional=True, values=PAIR
)
CHOICE_OF_SEVERAL_COLUMNS = (
    Column("chosen_side", "string", "the side of the chosen option", values=SIDES),
    Column("chose_good", "boolean", "whether the expected option was chosen"),
    Column("version", "string", "the option chosen"),
    *MEASURED_COLUMNS,
)
RATING_COLUMNS = (
    Column(
        "chosen_side",
        "string",
        "always empty: a rating chooses no side",
        optional=True,
        values=PAIR,
    ),
    Column("chose_good", "boolean", "always empty: no rating is right or wrong", optional=True),
    Column("version", "string", "the version that was rated"),
    Column("rating", "integer", "the point of the scale, from 1", unit="point"),
    *MEASURED_COLUMNS,
)

RESPONSES = TableSchema(
    "responses",
    "What each participant chose: one row per answered trial.",
    ("participant", "position"),
    (
        _PARTICIPANT,
        _POSITION,
        _ITEM_ID,
        *CHOICE_COLUMNS,
        Column("recorded_at", "datetime", "the clock (UTC) of a server, if any", optional=True),
        JUDGE,
    ),
)

VERDICTS = TableSchema(
    "verdicts",
    "Who enters the analysis: one row per participant who finished.",
    ("participant",),
    (
        _PARTICIPANT,
        Column("kept", "boolean", "false when the exclusion rule removes the participant"),
        Column("rule", "string", "the rule that excluded; empty when kept"),
        Column("evidence", "string", "the figures on which the verdict rests"),
    ),
)

PAYMENTS = TableSchema(
    "payments",
    "What participants were paid: one row per payment made. Empty if nobody is paid.",
    ("payment",),
    (
        Column("payment", "integer", "the payment's number, in the order they were made, from 1"),
        _PARTICIPANT,
        Column("paid_for", "string", "reward, bonus, compensation or screen_out"),
        Column(
            "amount_minor",
            "integer",
            "how much, without the platform's fee, in whole minor units of the currency",
            unit="minor unit",
        ),
        Column("currency", "string", "the currency's code, ISO 4217"),
        Column("paid_at", "datetime", "when it was made, or found to have been made (UTC)"),
    ),
)

SCORES = TableSchema(
    "scores",
    "A language model's scores: one row per item and version.",
    ("item_id", "variant"),
    (
        _ITEM_ID,
        _CONSTRUCTION,
        _CONDITION,
        Column(
            "contrast",
            "string",
            "the version compared with good in the forced choice",
            values=(Variant.BAD, Variant.DISTRACTOR),
        ),
        Column(
            "variant",
            "string",
            "the version scored: good, bad, distractor, or the study's own column of options",
        ),
        Column("logprob_nats", "number", "log-probability of the whole text", unit="nat"),
        Column("n_tokens", "integer", "tokens scored"),
        Column("n_unknown", "integer", "tokens outside the model's vocabulary"),
        Column("token_logprobs_nats", "numbers", "log-probability of each token", unit="nat"),
        Column(
            "token_unknown",
            "booleans",
            "whether each token is outside the model's vocabulary",
            optional=True,
        ),
        Column(
            "difference_at",
            "integer",
            "how many tokens precede the first that differs from the version it is compared with; "
            "good is compared with the contrast, every other version with good",
            optional=True,
        ),
        Column(
            "logprob_from_difference_nats",
            "number",
            "log-probability from the first token that differs to the end, given what precedes it",
            unit="nat",
            optional=True,
        ),
        Column(
            "choice_at",
            "integer",
            "how many tokens precede the choice: those of the item's context; 0 without a context",
            optional=True,
            absent="",
        ),
        Column(
            "logprob_of_choice_nats",
            "number",
            "log-probability of the choice given the item's context",
            unit="nat",
            optional=True,
            absent="",
        ),
    ),
)

_SCORED_OVER_TIME = (
    *("item_id", "construction", "condition", "contrast", "variant"),
    *("logprob_nats", "n_tokens", "n_unknown"),
)
SCORES_OVER_TIME = TableSchema(
    "scores_over_time",
    "A language model's scores during its training: one row per checkpoint, item and version.",
    ("checkpoint", "item_id", "variant"),
    (
        Column("checkpoint", "string", "the checkpoint's folder or revision, such as step1000"),
        Column(
            "tokens_seen",
            "integer",
            "tokens of the training text that the model had read, repeated ones included",
        ),
        *(column for column in SCORES.columns if column.name in _SCORED_OVER_TIME),
    ),
)

EXPORT_TABLES = (
    ITEMS,
    LISTS,
    PARTICIPANTS,
    CONSENTS,
    ENDINGS,
    DEVICES,
    ANSWERS,
    TRIALS,
    RESPONSES,
    TIMINGS,
    EVENTS,
    INTEGRITY,
    VERDICTS,
    PAYMENTS,
)
