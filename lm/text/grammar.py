"""Probabilistic grammars of simple texts: the expansions of each rule, and their weights.

``lm.text.grammar_file`` reads them, ``lm.text.sampler`` draws sentences from them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
