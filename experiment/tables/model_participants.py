"""The tables in a model participant's folder that an export of a run does not have."""

from experiment.tables.column import JUDGE, Column, TableSchema
from experiment.tables.schemas import PARTICIPANTS

_PARTICIPANT = Column("participant", "string", "the sitting: a session taken in one way")
_POSITION = Column("position", "integer", "the trial's place in the session, from 1")
OUTCOMES = ("answered", "tie", "unreadable", "refused", "cut")

# A sitting takes the role of a participant.
SITTINGS = PARTICIPANTS.with_columns(
    (
        Column("model", "string", "the model's name"),
        Column("reading", "string", "the way of asking"),
        Column("context", "string", "what stood before each trial; empty without a prompt"),
        Column("labels", "string", "the set of labels; empty without a prompt"),
        Column("order", "string", "listed, or swapped: the answers in the opposite order"),
        Column(
            "thinking", "string", "whether the model might think first: yes, no; empty: no prompt"
        ),
        Column("session", "integer", "the number of the session, from 1"),
        Column("person", "string", "whose session of the run it is; empty for nobody's"),
    )
)

READ = TableSchema(
    "readings",
    "How each trial was read: one row per trial of each sitting, answered or not.",
    ("participant", "position"),
    (
        _PARTICIPANT,
        _POSITION,
        Column("item_id", "string", "the item's id within the study"),
        Column(
            "outcome",
            "string",
            "answered; tie: two answers were equally good, and one was drawn by the seed;"
            " unreadable: no answer could be read; refused: the model declined; cut: the answer"
            " was cut by the limit of tokens",
            values=OUTCOMES,
        ),
        Column("weights", "string", "the number of each answer, in their order, as a JSON list"),
        Column(
            "p_good",
            "number",
            "the probability of the expected option among those shown",
            optional=True,
        ),
        Column("mass", "number", "the probability of all labels together", optional=True),
        JUDGE,
    ),
)

MODEL_QUESTIONS = TableSchema(
    "asked",
    "What the model was asked and what it said: one row per prompt of each trial.",
    ("participant", "position", "ask"),
    (
        _PARTICIPANT,
        _POSITION,
        Column("ask", "integer", "the prompt's number within the trial, from 1"),
        Column("prompt_sha256", "string", "the SHA-256 of the prompt, which `prompts` holds"),
        Column("answers", "string", "the texts whose probability was asked, as a JSON list"),
        Column("logprobs_nats", "string", "their log-probabilities, as a JSON list; null: unknown"),
        Column("raw", "string", "what the model wrote, as a JSON list; empty without samples"),
        Column(
            "read_by",
            "string",
            "by which rule each sample was read, or why it is unreadable (empty, several, none,"
            " refused, cut), as a JSON list; empty without samples",
            absent="",
        ),
        Column("thoughts", "string", "what it wrote before its answers, as a JSON list, or empty"),
        Column(
            "hidden_tokens",
            "integer",
            "how many tokens it thought, in all samples; missing where the server does not tell",
            optional=True,
        ),
        Column(
            "fingerprints",
            "string",
            "the model's name and fingerprint as the server told them in each call, as a JSON list;"
            " empty without a server",
            absent="",
        ),
        Column(
            "seed",
            "integer",
            "what the first sample was drawn by, and the next by the numbers that follow; missing"
            " without samples",
            optional=True,
        ),
        Column("raw_sha256", "string", "the SHA-256 of `logprobs_nats`, a line end and `raw`"),
        JUDGE,
    ),
)

PROMPTS = TableSchema(
    "prompts",
    "Every prompt, once.",
    ("prompt_sha256",),
    (
        Column("prompt_sha256", "string", "the SHA-256 of the prompt's UTF-8 bytes"),
        Column("prompt", "string", "the prompt, byte for byte"),
    ),
)
