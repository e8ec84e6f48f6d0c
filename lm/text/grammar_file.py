"""Reading a text grammar from TOML.

A rule gives the sequences that a symbol expands to, with weights. A sequence consists of
``'words'`` in quotes, ``<list>`` or ``<list.form>`` for a word drawn from a list, and other rules,
with values in brackets for their parameters::

    [features]
    number = ["singular", "plural"]

    [rules]
    "sentence" = { "subject(number) predicate(~number)" = 9, "'it rains'" = 1 }
    "subject(number)" = { "'the' <person.number>" = 1 }
    "predicate(number)" = { "<verb.number>" = 1 }

Parameters are named after features. A feature that is not a parameter of its rule is drawn each
time the rule is used. ``~number`` is the agreeing value, except for the grammar's share of
agreement errors, which take another value of the feature.

A feature may be an attractor of another one: ``between = "number"`` has the values of ``number``
and is accepted as a ``number``. If it is drawn while a ``number`` is set, it is an attractor if the
two differ. A sequence may end with marks (``@relative_clauses``): sentences are counted by mark,
and ``lm.text.grammar`` changes the probability of a rule's marked sequences.
"""

import hashlib
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from lm.errors import LmError, at, locate_errors
from lm.text.grammar import (
    Call,
    Expansion,
    Features,
    FeatureValue,
    ListedWord,
    LiteralWords,
    PairedLists,
    Rule,
    Symbol,
    TextGrammar,
    check_call,
)

_NAME = r"[A-Za-z]\w*"
_HEAD = re.compile(rf"({_NAME})(?:\(([^()]*)\))?")
_SYMBOL = re.compile(
    rf"'(?P<words>[^']+)'|<(?P<list>{_NAME})(?:\.(?P<form>~?{_NAME}))?>"
    rf"|(?P<rule>{_NAME})(?:\((?P<values>[^()]*)\))?"
)
_MARKED = re.compile(rf"(.*?)((?:\s+@{_NAME})+)\s*", re.DOTALL)


def _read_feature(declared: object) -> object:
    if isinstance(declared, str) or (
        isinstance(declared, list) and all(isinstance(value, str) for value in declared)
    ):
        return declared
    raise ValueError("a feature is a list of its values, or the name of the feature it attracts")


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1)
    start: str
    agreement_error_rate: float = Field(default=0.0, ge=0, le=1)
    features: dict[str, Annotated[str | list[str], BeforeValidator(_read_feature)]] = {}
    paired: "_Paired | None" = None
    lexicon: dict[str, "_Lexicon"] = {}
    rules: dict[str, dict[str, float]] = Field(min_length=1)


class _Paired(BaseModel):
    model_config = ConfigDict(extra="forbid")

    nouns: tuple[str, ...] = Field(min_length=1)
    verbs: tuple[str, ...] = Field(min_length=1)


class _Lexicon(BaseModel):
    model_config = ConfigDict(extra="forbid")

    forms: str = ""
    entries: list[str] = Field(min_length=1)


def load_text_grammar(path: Path) -> TextGrammar:
    """Return the grammar in a TOML file; everything is checked except external word lists.

    Raises:
        LmError: The file is missing or malformed, or a rule contains an undefined reference.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LmError(
            f"cannot read the text grammar {path}: {error.strerror}. "
            "docs/language_models.md shows what one looks like."
        ) from error
    with locate_errors(path):
        file = _File.model_validate(tomllib.loads(data.decode("utf-8")))
        features, attractor_of = _read_features(file.features)
        rules = _read_rules(file.rules, features)
        _check_calls(file, rules, Features(features, attractor_of))
        words = dict(_word_lists(file.lexicon))
    return TextGrammar(
        file.name,
        file.start,
        file.agreement_error_rate,
        features,
        words,
        rules,
        hashlib.sha256(data).hexdigest(),
        attractor_of,
        paired=PairedLists(file.paired.nouns, file.paired.verbs) if file.paired else PairedLists(),
    )


def _read_features(
    feature_table: Mapping[str, str | list[str]],
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Return each feature's values, and the feature that each possible attractor attracts."""
    values_of = {
        name: tuple(values) for name, values in feature_table.items() if not isinstance(values, str)
    }
    attractor_of = {
        name: attracted for name, attracted in feature_table.items() if isinstance(attracted, str)
    }
    for name in feature_table:
        with at("features", name):
            if not values_of.get(name, ("attracts",)):
                raise LmError(f'in "features.{name}": a feature needs at least one value.')
            if (attracted := attractor_of.get(name)) is not None and attracted not in values_of:
                raise LmError(
                    f'in "features" {attracted} has no values, so it cannot have an attractor.'
                )
    return values_of | {
        name: values_of[attracted] for name, attracted in attractor_of.items()
    }, attractor_of


def _word_lists(lexicon: Mapping[str, _Lexicon]) -> list[tuple[str, tuple[str, ...]]]:
    lists: list[tuple[str, tuple[str, ...]]] = []
    for name, table in lexicon.items():
        forms = _split_columns(table.forms)
        entries = [_split_columns(entry) for entry in table.entries]
        wrong = next((entry for entry in entries if len(entry) != len(forms) or "" in entry), None)
        if wrong is not None:
            with at("lexicon", name, "entries"):
                raise LmError(
                    f'in the lexicon "{name}" the entry "{" | ".join(wrong)}" does not have '
                    f'one word for each of "{table.forms or "(no forms)"}".'
                )
        keys = [f"{name}.{form}" if form else name for form in forms]
        lists += zip(keys, zip(*entries, strict=True), strict=True)
    return lists


def _split_columns(text: str) -> tuple[str, ...]:
    return tuple(" ".join(column.split()) for column in text.split("|"))


def _read_rules(
    rule_table: Mapping[str, Mapping[str, float]], features: Mapping[str, tuple[str, ...]]
) -> dict[str, Rule]:
    rules = {}
    for head, bodies in rule_table.items():
        with at("rules", head):
            name, rule = _read_rule(head, bodies, features)
        rules[name] = rule
    return rules


def _read_rule(
    head: str, bodies: Mapping[str, float], features: Mapping[str, tuple[str, ...]]
) -> tuple[str, Rule]:
    match = _HEAD.fullmatch(head)
    if not match:
        raise LmError(
            f'"{head}" does not name a rule. Expected "name" or "name(feature, feature)".'
        )
    parameters = _split(match[2])
    unknown = [name for name in parameters if name not in features]
    if unknown:
        raise LmError(f'the rule "{head}" has the parameter {unknown[0]}, which is not a feature.')
    if not bodies or min(bodies.values()) < 0 or not sum(bodies.values()) > 0:
        raise LmError(f'the rule "{head}" needs weights of at least 0, one of them above 0.')
    expansions = []
    for body in bodies:
        with at(body):
            expansions.append(_read_expansion(head, body, parameters, features))
    return match[1], Rule(parameters, tuple(expansions), tuple(bodies.values()))


def _read_expansion(
    head: str, body: str, parameters: tuple[str, ...], features: Mapping[str, tuple[str, ...]]
) -> Expansion:
    body, marks = _split_marks(body)
    unread = _SYMBOL.sub("", body).strip()
    if unread or not body.strip():
        raise LmError(
            f'in the rule "{head}" the sequence "{body}" cannot be read'
            + (f' at "{unread.split()[0]}"' if unread else "")
            + ". Expected 'words', <list.form> and rules, divided by spaces."
        )
    try:
        symbols = tuple(_read_symbol(match, features) for match in _SYMBOL.finditer(body))
    except LmError as error:
        raise LmError(f'in the rule "{head}" {error}') from error
    used = [value.text for symbol in symbols for value in _list_values(symbol) if value.is_variable]
    drawn = [name for name in dict.fromkeys(used) if name not in parameters]
    return Expansion(symbols, tuple(drawn), marks)


def _split_marks(body: str) -> tuple[str, tuple[str, ...]]:
    """Return a sequence without the marks at its end, and the marks."""
    match = _MARKED.fullmatch(body)
    return (match[1], tuple(match[2].replace("@", "").split())) if match else (body, ())


def _read_symbol(match: re.Match[str], features: Mapping[str, tuple[str, ...]]) -> Symbol:
    if match["words"]:
        return LiteralWords(match["words"])
    if match["list"]:
        return ListedWord(
            match["list"], _read_value(match["form"], features) if match["form"] else None
        )
    return Call(
        match["rule"], tuple(_read_value(text, features) for text in _split(match["values"]))
    )


def _read_value(text: str, features: Mapping[str, tuple[str, ...]]) -> FeatureValue:
    name = text.removeprefix("~")
    may_err = text.startswith("~")
    if may_err and len(features.get(name, ())) < 2:
        raise LmError(
            f'"{text}" is not a feature with two values. Only such a feature can disagree.'
        )
    return FeatureValue(name, name in features, may_err)


def _list_values(symbol: Symbol) -> tuple[FeatureValue, ...]:
    match symbol:
        case Call():
            return symbol.values
        case ListedWord() if symbol.form:
            return (symbol.form,)
    return ()


def _split(values: str | None) -> tuple[str, ...]:
    return tuple(value.strip() for value in values.split(",")) if values else ()


def _check_calls(file: _File, rules: Mapping[str, Rule], features: Features) -> None:
    with at("start"):
        check_call("start", Call(file.start, ()), rules, features)
    # A rule that is defined again with other parameters replaces the first definition.
    heads = {head.partition("(")[0]: head for head in file.rules}
    for name, rule in rules.items():
        for body, expansion in zip(file.rules[heads[name]], rule.expansions, strict=True):
            for symbol in expansion.symbols:
                if isinstance(symbol, Call):
                    with at("rules", heads[name], body):
                        check_call(f'in the rule "{name}"', symbol, rules, features)
