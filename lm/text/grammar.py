"""Probabilistic grammars of simple texts: the expansions of each rule, and their weights.

The shares of features that make agreement hard can be changed.

``lm.text.grammar_file`` reads them, ``lm.text.sampler`` draws sentences from them.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from lm.errors import LmError

WordLists = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class FeatureValue:
    """A feature's value: a literal, or a variable's value, which may take an agreement error."""

    text: str
    is_variable: bool
    may_err: bool


@dataclass(frozen=True, slots=True)
class LiteralWords:
    """Literal words in a sequence of a rule."""

    text: str


@dataclass(frozen=True, slots=True)
class ListedWord:
    """A word from a list, in the form of a value; without a value, the list has no forms."""

    list: str
    form: FeatureValue | None


@dataclass(frozen=True, slots=True)
class Call:
    """Another rule, with the values of its parameters."""

    rule: str
    values: tuple[FeatureValue, ...]


Symbol = LiteralWords | ListedWord | Call


@dataclass(frozen=True, slots=True)
class Expansion:
    """One possible expansion of a rule.

    Attributes:
        symbols: The sequence.
        drawn: The features drawn each time the expansion is used.
        marks: The names under which the expansion is counted, and by which its share can be set.
    """

    symbols: tuple[Symbol, ...]
    drawn: tuple[str, ...]
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """The possible expansions of a symbol, with weights, which need not add up to 1."""

    parameters: tuple[str, ...]
    expansions: tuple[Expansion, ...]
    weights: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class PairedLists:
    """Word lists with held-out pairs: some of these nouns never occur with some of these verbs."""

    nouns: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextGrammar:
    """A grammar of a text.

    Attributes:
        name: The text's name in descriptions of training texts.
        start: The start rule of every sentence.
        agreement_error_rate: The share of ``~`` values that are replaced by another value, from 0
            to 1.
        features: Each feature's values.
        attractor_of: Name of a feature that can be an attractor -> the feature with the same
            values that it attracts if the two differ.
        attractor_share: The share of differing values; None: all values are equally likely.
        paired: The nouns and verbs with pairs that may be held out.
        words: The grammar's own word lists, with keys as for the sampler.
        rules: The rules by name.
        sha256: The hash of the file, in hexadecimal.
    """

    name: str
    start: str
    agreement_error_rate: float
    features: Mapping[str, tuple[str, ...]]
    words: WordLists
    rules: Mapping[str, Rule]
    sha256: str
    attractor_of: Mapping[str, str] = field(default_factory=dict)
    attractor_share: float | None = None
    paired: PairedLists = PairedLists()


@dataclass(frozen=True, slots=True)
class Features:
    """Each feature's values, and for each possible attractor the feature that it attracts."""

    values: Mapping[str, tuple[str, ...]]
    attractor_of: Mapping[str, str]


def check_call(location: str, call: Call, rules: Mapping[str, Rule], features: Features) -> None:
    """Check that a rule exists and accepts the values of a call.

    Raises:
        LmError: It does not; the message starts with the position of the call.
    """
    if call.rule not in rules:
        raise LmError(
            f'{location}: there is no rule "{call.rule}". The rules are: {", ".join(rules)}.'
        )
    parameters = rules[call.rule].parameters
    if len(call.values) != len(parameters):
        raise LmError(
            f'{location}: the rule "{call.rule}" takes ({", ".join(parameters)}), '
            f"not {len(call.values)} value(s)."
        )
    for value, parameter in zip(call.values, parameters, strict=True):
        values = features.values[parameter]
        if value.is_variable:
            fits = parameter in (value.text, features.attractor_of.get(value.text))
        else:
            fits = value.text in values
        if not fits:
            raise LmError(
                f'{location}: "{value.text}" cannot be the {parameter} of "{call.rule}". '
                f"Expected {parameter} or one of: {', '.join(values)}."
            )


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
