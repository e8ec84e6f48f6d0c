"""Probabilistic grammars of simple texts: what a rule may become, and how often.

``lm.text.grammar_file`` reads them, ``lm.text.sampler`` draws sentences from them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lm.errors import LmError

WordLists = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Value:
    """A feature's value: written out, or that of a variable, which may err."""

    text: str
    is_variable: bool
    may_err: bool


@dataclass(frozen=True, slots=True)
class Words:
    """Words to stand as they are."""

    text: str


@dataclass(frozen=True, slots=True)
class Listed:
    """A word drawn from a list, in the form the value says; no value: the list has no forms."""

    list: str
    form: Value | None


@dataclass(frozen=True, slots=True)
class Call:
    """Another rule, with the values of its parameters."""

    rule: str
    values: tuple[Value, ...]


Symbol = Words | Listed | Call


@dataclass(frozen=True, slots=True)
class Expansion:
    """One sequence a rule may become.

    Attributes:
        symbols: The sequence.
        drawn: The features drawn each time the rule becomes it.
        marks: What it is counted as, and can be given a share by.
    """

    symbols: tuple[Symbol, ...]
    drawn: tuple[str, ...]
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """What a symbol may become: expansions and their weights, which need not add up to 1."""

    parameters: tuple[str, ...]
    expansions: tuple[Expansion, ...]
    weights: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Paired:
    """Word lists of which pairs can be held out: some of these nouns never meet some verbs."""

    nouns: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextGrammar:
    """A grammar of a text.

    Attributes:
        name: What the text is called where a model says what it was trained on.
        start: The rule that every sentence begins with.
        agreement_error_rate: The share of ``~`` values that take another value, from 0 to 1.
        features: Each feature's values.
        attractor_of: By the name of a feature that can be an attractor, the feature of the same
            values that it attracts where the two differ.
        attractor_share: The share of those that differ; None: each value is as likely.
        paired: The nouns and verbs of which pairs may be held out.
        words: The grammar's own word lists, keyed like those given to the sampler.
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
    paired: Paired = Paired()


@dataclass(frozen=True, slots=True)
class Features:
    """Each feature's values, and which feature can be an attractor of which."""

    values: Mapping[str, tuple[str, ...]]
    attractor_of: Mapping[str, str]


def check_call(where: str, call: Call, rules: Mapping[str, Rule], features: Features) -> None:
    """Check that a rule is there, and takes the values that it is called with.

    Raises:
        LmError: It is not, or does not; the message begins with where the call stands.
    """
    if call.rule not in rules:
        raise LmError(
            f'{where}: there is no rule "{call.rule}". The rules are: {", ".join(rules)}.'
        )
    parameters = rules[call.rule].parameters
    if len(call.values) != len(parameters):
        raise LmError(
            f'{where}: the rule "{call.rule}" takes ({", ".join(parameters)}), '
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
                f'{where}: "{value.text}" cannot stand for the {parameter} of "{call.rule}". '
                f"Expected {parameter} or one of: {', '.join(values)}."
            )
