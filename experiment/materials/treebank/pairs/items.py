"""Minimal pairs as items, each with its source, its rule and its licence."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from experiment.materials.treebank.conllu import Sentence
from experiment.materials.treebank.pairs.pair import Pair
from experiment.materials.treebank.pairs.sources import Source, join_licences
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
    licences = {str(source.path): join_licences([source, *lexicons]) for source in treebanks}
    numbers = Counter[str]()
    items = []
    for pair in pairs:
        numbers[pair.construction] += 1
        file, _, line = pair.instance.sentence.where.rpartition(":")
        extra = {
            "source": Path(file).name,
            "sent_id": pair.instance.sentence.sent_id or f"line {line}",
            "rule": pair.rule,
            "change": pair.change,
            "licence": licences[file],
            "lexicon": ", ".join(map(str, lexicons)),
            "critical": str(_number_of_word(pair.instance.sentence, min(pair.changes))),
        }
        items.append(_make_item(pair, numbers[pair.construction], extra))
    return items


def _make_item(pair: Pair, number: int, extra: Mapping[str, str]) -> Item:
    instance = pair.instance
    features = {
        pair.feature.lower(): pair.right.lower().replace(" ", "_"),
        "attractors": str(pair.attractors),
        "distance": str(abs(instance.target - instance.cue)),
        "first": "cue" if instance.cue < instance.target else "target",
    }
    file, sent_id = extra["source"], extra["sent_id"].replace(" ", "_")
    return Item(
        item_id=f"{pair.construction}-{number}",
        kind=Kind.TARGET,
        construction=pair.construction,
        condition=_ONE_CONDITION,
        template=pair.construction,
        features=" ".join(f"{name}={value}" for name, value in features.items()),
        frame=f"sentence={file}:{sent_id}",
        context="",
        good=write_sentence(instance.sentence, {}),
        bad=write_sentence(instance.sentence, pair.changes),
        extra=tuple((name, text) for name, text in extra.items() if text),
    )


def _number_of_word(sentence: Sentence, index: int) -> int:
    """Return the place of a word, from 1, among those that spaces separate."""
    return 1 + sum(token.space_after for token in sentence.tokens[:index])
