"""Convert other programs' scores to score files, matching each text to an item's version."""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from analysis.data.facts import ScoreFacts
from analysis.errors import AnalysisError
from analysis.readers.score_tables import ScoredText
from experiment.materials.formats.options import find_further_options
from experiment.materials.render import render
from experiment.records import Item, Variant
from experiment.tables.files import write_table
from experiment.tables.schemas import SCORES

# Possible renderings of a text, the most likely first.
_RENDERINGS = ("as_written", "sentence_case", "lower_case_tokens", "split_lower_case_tokens")
_SHOWN = 3
# A few texts may have the same score.
_FEWEST_SCORES = 4
# A sentence with one other word has nine letters of ten in common.
_LEAST_SIMILARITY = 0.9

Version = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Matched:
    """One model's scores of items.

    Attributes:
        model: The model.
        scores: By item and version.
        rendering: The rendering of the texts, if they were matched as texts.
        notes: What was left out, in sentences.
    """

    model: str
    scores: Mapping[Version, ScoredText]
    rendering: str
    notes: tuple[str, ...]


def match_scores(
    scored: Iterable[ScoredText], items: Sequence[Item], model: str, where: Path
) -> list[Matched]:
    """Match scores to items and versions, for each model.

    Texts are matched ignoring white space, as written or in a study's usual renderings.

    Args:
        scored: The scores.
        items: The items.
        model: The model's name, if the file does not give it.
        where: The file, for messages.

    Raises:
        AnalysisError: An item or a text is unknown, is scored twice with different scores, or only
            some of an item's versions are scored.
    """
    by_model: defaultdict[str, list[ScoredText]] = defaultdict(list)
    for score in scored:
        by_model[score.model or model].append(score)
    return [_match_model_scores(name, rows, items, where) for name, rows in by_model.items()]


def _match_model_scores(
    model: str, rows: Sequence[ScoredText], items: Sequence[Item], where: Path
) -> Matched:
    rendering, of_text = "", dict[str, list[Version]]()
    texts = {_text_key(row.text) for row in rows if row.text}
    if texts:
        rendering, of_text = _choose_rendering(texts, items)
    known_versions = {(item.item_id, version) for item in items for version in texts_of(item)}
    scores: dict[Version, ScoredText] = {}
    unmatched: list[ScoredText] = []
    differing_scores: list[ScoredText] = []
    for row in rows:
        if row.item_id and row.variant and row.text and _text_key(row.text) not in of_text:
            differing_scores.append(row)
        versions = _versions_of_row(row, of_text)
        _refuse_contradiction(row, of_text)
        if not versions or not known_versions.issuperset(versions):
            unmatched.append(row)
            continue
        for version in versions:
            if scores.setdefault(version, row).logprobs_nats != row.logprobs_nats:
                raise AnalysisError(
                    f"the {version[1]} version of the item {version[0]} has two scores",
                    where=f"{row.place}, and {scores[version].place}",
                    expected="one score of each model for each version",
                    remedy="If they come from different models, add a column named model",
                )
    if not scores:
        raise AnalysisError(
            "no score belongs to any of the items; the first is of "
            f"{_describe_score(unmatched[0])}",
            where=unmatched[0].place,
            expected="ids or texts of the items",
        )
    _refuse_constant(scores, where)
    notes = [
        *_note_missing_scores(scores, unmatched, items, where),
        *_warn_about_differing_texts(differing_scores),
    ]
    return Matched(model, scores, rendering, tuple(notes))


def _refuse_constant(scores: Mapping[Version, ScoredText], where: Path) -> None:
    """Refuse scores that are all 0, or all the same: no model predicted the texts."""
    sums = {math.fsum(row.logprobs_nats) for row in scores.values()}
    if len(scores) < _FEWEST_SCORES or len(sums) > 1:
        return
    value = sums.pop()
    raise AnalysisError(
        f"all {len(scores):,} scores are {value:g}, for different texts",
        where=str(where),
        expected="log-probabilities, which differ from text to text",
        remedy="Score again: a server that does not return the log-probabilities of a prompt "
        "(without echo) gives 0 for every text"
        if not value
        else "Name the column of scores",
    )


def _refuse_contradiction(row: ScoredText, of_text: Mapping[str, list[Version]]) -> None:
    """Refuse a row whose text does not belong to the item or version of its ids."""
    versions = of_text.get(_text_key(row.text), []) if row.text else []
    if row.item_id and row.variant and versions and (row.item_id, row.variant) not in versions:
        item, version = versions[0]
        raise AnalysisError(
            f"the row is labelled as the {row.variant} version of {row.item_id}, but its text, "
            f'"{row.text[:60]}", is the {version} version of {item}',
            where=row.place,
            expected="ids that belong to the text in the same row",
            remedy="Check whether rows, ids or versions were shifted or exchanged",
        )


def _warn_about_differing_texts(rows: Sequence[ScoredText]) -> Iterator[str]:
    """Yield warnings about texts that differ from the items' texts."""
    if rows:
        yield (
            f"{len(rows):,} texts with an id match no item exactly; the first: "
            f'"{rows[0].text[:60]}" of {rows[0].item_id}. The ids were believed.'
        )


def _choose_rendering(
    texts: set[str], items: Sequence[Item]
) -> tuple[str, dict[str, list[Version]]]:
    texts_by_rendering = {name: _index_by_text(items, render(name)) for name in _RENDERINGS}
    best = max(texts_by_rendering, key=lambda name: len(texts & texts_by_rendering[name].keys()))
    return best, texts_by_rendering[best]


def _index_by_text(
    items: Iterable[Item], rendered: Callable[[str], str]
) -> dict[str, list[Version]]:
    versions_by_text: defaultdict[str, list[Version]] = defaultdict(list)
    for item in items:
        for version, text in texts_of(item).items():
            versions_by_text[_text_key(rendered(text))].append((item.item_id, version))
    return versions_by_text


def texts_of(item: Item) -> dict[str, str]:
    """Return the full text of each version of an item."""
    versions = item.versions(find_further_options(dict(item.extra)))
    return {name: item.after_context(text) for name, text in versions.items()}


def _text_key(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _versions_of_row(row: ScoredText, of_text: Mapping[str, list[Version]]) -> list[Version]:
    if row.item_id and row.variant:
        return [(row.item_id, row.variant)]
    versions = of_text.get(_text_key(row.text), [])
    return [version for version in versions if row.item_id in ("", version[0])]


def _describe_score(row: ScoredText) -> str:
    return f'"{row.text}"' if row.text else f"the {row.variant} version of {row.item_id}"


def _note_missing_scores(
    scores: Mapping[Version, ScoredText],
    unmatched: Sequence[ScoredText],
    items: Sequence[Item],
    where: Path,
) -> Iterator[str]:
    partly_scored, unscored, without_options = [], [], []
    for item in items:
        missing = [name for name in texts_of(item) if (item.item_id, name) not in scores]
        if len(missing) == len(texts_of(item)):
            unscored.append(item.item_id)
        elif set(missing) & set(Variant):
            partly_scored.append(f"{item.item_id} ({', '.join(missing)})")
        elif missing:
            without_options.append(f"{item.item_id} ({', '.join(missing)})")
    if partly_scored:
        raise AnalysisError(
            f"{len(partly_scored)} item(s) have a version without a score: "
            f"{', '.join(partly_scored[:_SHOWN])}",
            where=str(where),
            expected="a score for each version of every item",
        )
    by_id = [row for row in unmatched if row.item_id and row.variant]
    if unscored and by_id:
        raise AnalysisError(
            f"{len(by_id):,} scores are of unknown items (the first: {by_id[0].item_id}), and "
            f"{len(unscored):,} items have no score (the first: {unscored[0]})",
            where=str(where),
            expected="the same ids as the items; one table may count from 0 and the other from 1",
            remedy="Name the items that were scored with --items",
        )
    _refuse_nearly_alike(unmatched, unscored, items)
    if unscored:
        yield f"{len(unscored):,} of {len(items):,} items have no score; the first: {unscored[0]}."
    if without_options:
        yield (
            f"{len(without_options):,} items have further options without a score; the first: "
            f"{without_options[0]}."
        )
    if unmatched:
        yield (
            f"{len(unmatched):,} scores belong to no item; the first: "
            f"{_describe_score(unmatched[0])}."
        )


def _refuse_nearly_alike(
    unmatched: Sequence[ScoredText], unscored: Sequence[str], items: Sequence[Item]
) -> None:
    """Refuse a text that belongs to no item but almost equals one of an item without a score."""
    without_score = {*unscored}
    keys = {
        _text_key(text): item.item_id
        for item in items
        if item.item_id in without_score
        for text in texts_of(item).values()
    }
    for row in unmatched[:_SHOWN]:
        for key in get_close_matches(_text_key(row.text), keys, n=1, cutoff=_LEAST_SIMILARITY):
            raise AnalysisError(
                f'the text "{row.text[:60]}" belongs to no item, but it is nearly that of the '
                f"item {keys[key]}, which has no score",
                where=row.place,
                expected="the texts of the items, letter by letter but for white space",
                remedy="Check whether rows or tokens were shifted, or name the items that were "
                "scored with --items",
            )


def write_scores(matched: Matched, items: Sequence[Item], facts: ScoreFacts, path: Path) -> None:
    """Write a score file of the scored items.

    Raises:
        TableError: The file cannot be written.
    """
    rows = (
        _score_row(item, version, matched)
        for item in items
        for version in texts_of(item)
        if (item.item_id, version) in matched.scores
    )
    write_table(SCORES, rows, path, facts.model_dump())


def _score_row(item: Item, version: str, matched: Matched) -> dict[str, object]:
    scored = matched.scores[item.item_id, version]
    against = item.contrast if version == Variant.GOOD else Variant.GOOD
    compared = matched.scores.get((item.item_id, against))
    shared = _find_first_difference(scored, compared) if compared else None
    nats = scored.logprobs_nats
    is_choice = scored.of_choice or not item.context
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
        **dict.fromkeys(("choice_at", "logprob_of_choice_nats")),
        **({"choice_at": 0, "logprob_of_choice_nats": math.fsum(nats)} if is_choice else {}),
    }


def _find_first_difference(first_score: ScoredText, second_score: ScoredText) -> int | None:
    """Return the number of tokens that two versions share at the start; None without tokens."""
    if len(first_score.logprobs_nats) == len(second_score.logprobs_nats) == 1:
        return 0
    if not (first_score.tokens and second_score.tokens):
        return None
    pairs = enumerate(zip(first_score.tokens, second_score.tokens, strict=False))
    shortest = min(len(first_score.tokens), len(second_score.tokens))
    return next(
        (
            position
            for position, (first_token, second_token) in pairs
            if first_token != second_token
        ),
        shortest,
    )
