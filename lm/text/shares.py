"""Changes to a text grammar's shares of features that make agreement hard."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from lm.errors import LmError
from lm.text.grammar import Rule, TextGrammar, WordLists

# A noun and a verb, each by its list and its index in the list.
Pair = tuple[tuple[str, int], tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Shares:
    """The new shares; each from 0 to 1.

    Attributes:
        agreement_errors: The share of agreement errors among agreeing words.
        attractors: The share of nouns next to a subject whose number differs from the subject's.
        marked: Mark -> the share of a rule's sequences with that mark.
    """

    agreement_errors: float | None = None
    attractors: float | None = None
    marked: Mapping[str, float] = field(default_factory=dict)


def replace_shares(grammar: TextGrammar, shares: Shares) -> TextGrammar:
    """Return the grammar with the new shares.

    Raises:
        LmError: The grammar lacks the marks or features of a share.
    """
    rules = dict(grammar.rules)
    for mark, share in shares.marked.items():
        able = {name: rule for name, rule in rules.items() if 0 < _marked_share(rule, mark) < 1}
        if not able:
            raise LmError(
                f'the text grammar "{grammar.name}" marks no choice with @{mark}, so its share '
                f"cannot be set. Write @{mark} after some of a rule's sequences, or leave "
                f"`--{mark.replace('_', '-')}` out."
            )
        rules |= {name: _reweight_rule(rule, mark, share) for name, rule in able.items()}
    if shares.attractors is not None and not grammar.attractor_of:
        raise LmError(
            f'the text grammar "{grammar.name}" has no feature that is an attractor of '
            'another. Write one, as `between = "number"`, or leave '
            "`--attractors` out."
        )
    errors = shares.agreement_errors
    return replace(
        grammar,
        rules=rules,
        agreement_error_rate=grammar.agreement_error_rate if errors is None else errors,
        attractor_share=shares.attractors,
    )


def _marked_share(rule: Rule, mark: str) -> float:
    pairs = zip(rule.expansions, rule.weights, strict=True)
    return sum(weight for expansion, weight in pairs if mark in expansion.marks) / sum(rule.weights)


def _reweight_rule(rule: Rule, mark: str, share: float) -> Rule:
    old_share = _marked_share(rule, mark)
    weights = tuple(
        weight * (share / old_share if mark in expansion.marks else (1 - share) / (1 - old_share))
        for expansion, weight in zip(rule.expansions, rule.weights, strict=True)
    )
    return replace(rule, weights=weights)


def held_out_pairs(
    grammar: TextGrammar, words: WordLists, share: float, seed: int
) -> frozenset[Pair]:
    """Draw the noun-verb pairs that must never occur in the same sentence.

    Args:
        grammar: The grammar, which names the lists of nouns and verbs.
        words: All lists, keyed ``"list.form"`` or ``"list"``.
        share: The share of all pairs to draw.
        seed: Equal seeds give equal pairs.

    Raises:
        LmError: The grammar names no nouns and verbs, or a list is missing.
    """
    if not share:
        return frozenset()
    if not grammar.paired.nouns:
        raise LmError(
            f'the text grammar "{grammar.name}" has no [paired] nouns and verbs, so none can be '
            "held out. Name their lists there, or leave `--held-out-pairs` out."
        )
    nouns, verbs = (
        [(name, index) for name in names for index in range(len(_list_word_forms(words, name)))]
        for names in (grammar.paired.nouns, grammar.paired.verbs)
    )
    pairs = list(product(nouns, verbs))
    # A separate random stream: other shares do not change the pairs.
    generator = random.Random(f"{seed} held-out pairs")
    return frozenset(generator.sample(pairs, round(share * len(pairs))))


def pairs_in_words(pairs: frozenset[Pair], words: WordLists) -> list[list[str]]:
    """Return the pairs as words in the first form of their lists, in alphabetical order."""
    return sorted([_list_word_forms(words, name)[index] for name, index in pair] for pair in pairs)


def _list_word_forms(words: WordLists, name: str) -> tuple[str, ...]:
    for key, forms in words.items():
        if key.partition(".")[0] == name:
            return tuple(forms)
    raise LmError(f'there is no word list "{name}", whose pairs were to be held out.')
