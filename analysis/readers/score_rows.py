"""Matched scores as the rows of a score file."""

import math
from collections.abc import Sequence
from pathlib import Path

from analysis.data.load import ScoreFacts
from analysis.readers.matched_scores import Matched, texts_of
from analysis.readers.score_tables import Scored
from experiment.records import Item, Variant
from experiment.tables.files import write_table
from experiment.tables.schemas import SCORES


def write_scores(matched: Matched, items: Sequence[Item], facts: ScoreFacts, path: Path) -> None:
    """Write a score file of those of the items that are scored.

    Raises:
        TableError: It cannot be written.
    """
    rows = (
        _row(item, version, matched)
        for item in items
        for version in texts_of(item)
        if (item.item_id, version) in matched.scores
    )
    write_table(SCORES, rows, path, facts.model_dump())


def _row(item: Item, version: str, matched: Matched) -> dict[str, object]:
    scored = matched.scores[item.item_id, version]
    against = item.contrast if version == Variant.GOOD else Variant.GOOD
    shared = _difference_at(scored, matched.scores[item.item_id, against])
    nats = scored.logprobs_nats
    return {
        "item_id": item.item_id,
        "construction": item.construction,
        "condition": item.condition,
        "contrast": item.contrast.value,
        "variant": str(version),
        "logprob_nats": math.fsum(nats),
        "n_tokens": len(nats),
        "n_unknown": 0,
        "token_logprobs_nats": list(nats),
        "token_unknown": [False] * len(nats),
        "difference_at": shared,
        "logprob_from_difference_nats": None if shared is None else math.fsum(nats[shared:]),
    }


def _difference_at(one: Scored, other: Scored) -> int | None:
    """Return how many tokens two versions share first; None where nobody knows the tokens."""
    if len(one.logprobs_nats) == len(other.logprobs_nats) == 1:
        return 0
    if not (one.tokens and other.tokens):
        return None
    pairs = enumerate(zip(one.tokens, other.tokens, strict=False))
    shortest = min(len(one.tokens), len(other.tokens))
    return next((place for place, (mine, theirs) in pairs if mine != theirs), shortest)
