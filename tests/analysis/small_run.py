"""A run small enough to count by hand: four items, three participants, one of them excluded."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from analysis.comparison import compare
from analysis.data.load import load_run, load_scores
from analysis.findings.finding import Comparison, ComparisonOptions
from experiment.tables.files import write_table
from experiment.tables.schemas import (
    ANSWERS,
    ITEMS,
    LISTS,
    PARTICIPANTS,
    RESPONSES,
    SCORES,
    TRIALS,
    VERDICTS,
)

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
HASH = "ab" * 32

STUDY = """
[study]
name = "small"
title = "Which is better?"
version = "1.0"
language = "en"
citation = "Doe, J. (2026). A small study."

[materials]
grammar = "grammar.toml"

[design]
lists = 1
participants_per_list = 3
trials_per_list = 4

[[design.squares]]
templates = ["simple"]

[[exclusion]]
rule = "max_errors"
construction = "simple"
max_errors = 1

[simulation]
mix = { accurate = 1.0 }

[[constructions]]
name = "simple"
title = "Simple & short"
group = "Agreement"
published_sentences = 4

[[constructions]]
name = "polarity"
title = "Polarity (no 100%)"
group = "Polarity_items"
"""

GRAMMAR = """
[lexicon.noun]
forms = "singular | plural"
entries = ["child | children", "singer | singers"]

[lexicon.verb]
forms = "singular | plural"
entries = ["sleeps | sleep", "is happy | are happy"]

[[template]]
name = "simple"
construction = "simple"
condition = "{number}"
features = { number = ["singular", "plural"] }
slots = { N = "noun", V = "verb" }
good = "the {N.number} {V.number}"
bad = "the {N.number} {V.!number}"
"""

PUBLISHED = """table,construction,condition,judge,accuracy,source,note
table_1,simple,,people,0.9,"Doe (2025), Table 1",
table_1,simple,,rnn,0.8,"Doe (2025), Table 1",A misprint
table_2,simple,singular,people,0.95,"Doe (2025), Table 2",
"""

ITEM_ROWS = [
    ("s-1", "simple", "singular", "the child sleeps", "the child sleep", "", "bad"),
    ("s-2", "simple", "plural", "the children sleep", "the children sleeps", "", "bad"),
    ("p-1", "polarity", "past", "no child ever", "most child ever", "the child ever", "bad"),
    ("p-2", "polarity", "past", "few ever", "many ever", "some ever", "distractor"),
]

# Who chose the good version of s-1, s-2, p-1, p-2.
CHOICES = {
    "Ann": (True, True, True, False),
    "Ben": (True, False, True, False),
    "Cat": (False, False, True, True),
}

# Natural-log probabilities of good, bad, distractor.
LOGPROBS = {
    "s-1": (-1.0, -2.0, None),
    "s-2": (-3.0, -2.0, None),
    "p-1": (-2.0, -2.0, -1.0),
    "p-2": (-2.0, -1.0, -5.0),
}

Rows = list[dict[str, object]]


def items() -> Rows:
    return [
        {
            "item_id": item_id,
            "kind": "target",
            "construction": construction,
            "condition": condition,
            "template": construction,
            "features": f"number={condition}",
            "frame": "N=child",
            "context": "",
            "good": good,
            "bad": bad,
            "distractor": distractor,
            "contrast": contrast,
        }
        for item_id, construction, condition, good, bad, distractor, contrast in ITEM_ROWS
    ]


def tables(*, simulated: bool = False) -> dict[str, Rows]:
    """The rows of every exported table, to be changed by a test before they are written."""
    people = list(CHOICES)
    ids = [row[0] for row in ITEM_ROWS]
    shown = [(person, position, ids[position - 1]) for person in people for position in range(1, 5)]
    sides = {
        person: ("first", "second") if person == "Ann" else ("second", "first") for person in people
    }
    trials, responses = [], []
    for person, position, item_id in shown:
        good_side, other = sides[person]
        right = CHOICES[person][position - 1]
        key = {"participant": person, "position": position, "item_id": item_id}
        trials.append({**key, "kind": "target", "good_side": good_side})
        responses.append(
            {
                **key,
                "chosen_side": good_side if right else other,
                "chose_good": right,
                "rt_ms": 1000.0,
                "input_method": "key",
                "viewport_width_px": 1280,
                "viewport_height_px": 800,
                "was_hidden": False,
                "lost_focus": None,
                "client_time": None,
                "recorded_at": NOW,
            }
        )
    return {
        "items": items(),
        "lists": [{"list": 0, "item_id": item_id, "kind": "target"} for item_id in ids],
        "participants": [
            {
                "participant": person,
                "number": number,
                "simulated": simulated,
                "state": "finished",
                "list": 0,
                "place": number - 1,
                "arrived_at": NOW,
                "consented_at": NOW,
                "returned_at": None,
                "finished_at": NOW,
            }
            for number, person in enumerate(people, start=1)
        ]
        + [
            {
                "participant": "Dan",
                "number": 4,
                "simulated": simulated,
                "state": "declined",
                "list": None,
                "place": None,
                "arrived_at": NOW,
                "consented_at": None,
                "returned_at": None,
                "finished_at": None,
            }
        ],
        "answers": [{"participant": "Ann", "field": "comment", "value": "fine"}],
        "trials": trials,
        "responses": responses,
        "verdicts": [
            {
                "participant": person,
                "kept": person != "Cat",
                "rule": "max_errors" if person == "Cat" else "",
                "evidence": "2 errors",
            }
            for person in people
        ],
    }


def facts(*, simulated: bool = False) -> dict[str, object]:
    return {
        "run": "r1",
        "study": "small",
        "study_version": "1.0",
        "seed": 7,
        "materials_hash": HASH,
        "rendering": "sentence_case",
        "recruiter": "simulator" if simulated else "direct",
        "simulated": simulated,
        "launched_at": NOW.isoformat(),
        "code_version": "0.1.0+gabc",
        "n_participants": 4,
    }


def write_study(folder: Path) -> Path:
    texts = folder / "texts" / "en"
    texts.mkdir(parents=True)
    for page in ("consent", "instructions", "debrief"):
        (texts / f"{page}.md").write_text(page)
    (folder / "study.toml").write_text(STUDY)
    (folder / "grammar.toml").write_text(GRAMMAR)
    (folder / "published.csv").write_text(PUBLISHED)
    return folder


def write_export(
    folder: Path,
    rows: Mapping[str, Rows] | None = None,
    described: Mapping[str, object] | None = None,
    suffix: str = ".parquet",
) -> Path:
    rows = rows or tables()
    for schema in (ITEMS, LISTS, PARTICIPANTS, ANSWERS, TRIALS, RESPONSES, VERDICTS):
        write_table(schema, rows[schema.name], folder / f"{schema.name}{suffix}")
    (folder / "datapackage.json").write_text(json.dumps({"parallax": described or facts()}))
    write_study(folder / "study")
    return folder


def score_rows(
    logprobs: Mapping[str, tuple[float | None, ...]] = LOGPROBS, more: Iterable[str] = ("s-9",)
) -> Rows:
    """Scores of the judged items and of one more, which nobody judged."""
    described = {row[0]: row for row in ITEM_ROWS}
    found = []
    for item_id in [*logprobs, *more]:
        row = described.get(item_id, ITEM_ROWS[0])
        for variant, logprob in zip(
            ("good", "bad", "distractor"), logprobs.get(item_id, (-1.0, -2.0, None)), strict=True
        ):
            if logprob is not None:
                found.append(
                    {
                        "item_id": item_id,
                        "construction": row[1],
                        "condition": row[2],
                        "contrast": row[6],
                        "variant": variant,
                        "logprob_nats": logprob,
                        "n_tokens": 1,
                        "n_unknown": 0,
                        "token_logprobs_nats": [logprob],
                    }
                )
    return found


def score_facts(**changed: str) -> dict[str, str]:
    return {
        "model": "5-gram",
        "trained_on": "a text",
        "model_hash": "cd" * 32,
        "rendering": "lower_case_tokens",
        "study": "small",
        "study_version": "1.0",
        "materials_hash": HASH,
        "code_version": "0.1.0",
    } | changed


def write_scores(path: Path, rows: Rows | None = None, **changed: str) -> Path:
    write_table(SCORES, rows or score_rows(), path, score_facts(**changed))
    return path


def compared(export: Path, *scores: Path, **options: object) -> Comparison:
    """What a comparison of an export with score files holds, made by the code version v9."""
    chosen = ComparisonOptions(**({"resamples": 100} | options))
    return compare(
        load_run(export), [load_scores(one) for one in scores], chosen, code_version="v9"
    )
