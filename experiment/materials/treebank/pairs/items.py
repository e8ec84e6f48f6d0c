"""Minimal pairs as items, each with its source, its rule and its licence."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from experiment.materials.licences import COLUMN, join_licences
from experiment.materials.treebank.conllu import Sentence
from experiment.materials.treebank.pairs.catch import REVERSED_ORDER, reverse
from experiment.materials.treebank.pairs.pair import Pair
from experiment.materials.treebank.pairs.sources import Source
from experiment.records import Item, Kind

_ONE_CONDITION = "all"


def write_sentence(sentence: Sentence, changes: Mapping[int, str]) -> str:
    """Return a sentence as written, with other forms of some words."""
    forms = (
        (changes.get(index, token.form), token.space_after)
        for index, token in enumerate(sentence.tokens)
    )
    return "".join(f"{form} " if spaced else form for form, spaced in forms).strip()


def make_items(
    pairs: Iterable[Pair], treebanks: Sequence[Source], lexicons: Sequence[Source]
) -> list[Item]:
    """Return the pairs as items of whole sentences.

    Args:
        pairs: The pairs.
        treebanks: The treebank's files.
        lexicons: The lexicons from which forms may be.
    """
    licences = {
        str(source.path): join_licences(file.licence for file in (source, *lexicons))
        for source in treebanks
    }
    numbers = Counter[str]()
    items = []
    for pair in pairs:
        numbers[pair.construction] += 1
        origin = _describe_origin(pair.instance.sentence, pair.rule, pair.change, licences)
        extra = origin | {
            "lexicon": ", ".join(map(str, lexicons)),
            "critical": str(_number_of_word(pair.instance.sentence, min(pair.changes))),
        }
        items.append(_make_item(pair, numbers[pair.construction], extra))
    return items


def make_catch_items(sentences: Iterable[Sentence], treebanks: Sequence[Source]) -> list[Item]:
    """Return catch trials: sentences as they are, and in reversed order.

    Args:
        sentences: The sentences, from ``catch.choose_catch_sentences``.
        treebanks: The treebank's files.
    """
    licences = {str(source.path): source.licence for source in treebanks}
    items = []
    for number, sentence in enumerate(sentences, start=1):
        extra = _describe_origin(sentence, "Order of all words", "reversed", licences)
        items.append(
            Item(
                item_id=f"{REVERSED_ORDER}-{number}",
                kind=Kind.CATCH,
                construction=REVERSED_ORDER,
                condition=_ONE_CONDITION,
                template=REVERSED_ORDER,
                features="",
                frame=_name_frame(extra),
                context="",
                good=write_sentence(sentence, {}),
                bad=reverse(sentence),
                extra=tuple(extra.items()),
            )
        )
    return items


def _describe_origin(
    sentence: Sentence, rule: str, change: str, licences: Mapping[str, str]
) -> dict[str, str]:
    file, _, line = sentence.where.rpartition(":")
    return {
        "source": Path(file).name,
        "sent_id": sentence.sent_id or f"line {line}",
        "rule": rule,
        "change": change,
        COLUMN: licences[file],
    }


def _name_frame(extra: Mapping[str, str]) -> str:
    return f"sentence={extra['source']}:{extra['sent_id'].replace(' ', '_')}"


def _make_item(pair: Pair, number: int, extra: Mapping[str, str]) -> Item:
    instance = pair.instance
    features = {
        pair.feature.lower(): pair.right.lower().replace(" ", "_"),
        "attractors": str(pair.attractors),
        "distance": str(abs(instance.target - instance.cue)),
        "first": "cue" if instance.cue < instance.target else "target",
    }
    return Item(
        item_id=f"{pair.construction}-{number}",
        kind=Kind.TARGET,
        construction=pair.construction,
        condition=_ONE_CONDITION,
        template=pair.construction,
        features=" ".join(f"{name}={value}" for name, value in features.items()),
        frame=_name_frame(extra),
        context="",
        good=write_sentence(instance.sentence, {}),
        bad=write_sentence(instance.sentence, pair.changes),
        extra=tuple((name, text) for name, text in extra.items() if text),
    )


def _number_of_word(sentence: Sentence, index: int) -> int:
    """Return the place of a word, from 1, among those that spaces separate."""
    return 1 + sum(token.space_after for token in sentence.tokens[:index])
