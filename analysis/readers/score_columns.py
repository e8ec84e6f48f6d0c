"""Identify the columns of a score table, and their units."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from analysis.errors import AnalysisError
from experiment.materials.formats.columns import key_of
from experiment.materials.formats.raw import RawTable
from experiment.records import Variant

UNITS: Mapping[str, float] = MappingProxyType(
    {"nats": 1.0, "bits": math.log(2), "log10": math.log(10)}
)
# The first name is Parallax's; the others are used by minicons and common scripts.
_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "model": ("model", "model_name"),
        "item_id": ("item_id", "pair_id", "pairid", "id"),
        "variant": ("variant", "version", "grammaticality", "acceptability", "label"),
        "text": ("text", "sentence", "stimulus"),
        "context": ("context", "preamble"),
        "sentence_id": ("sentence_id", "text_id", "sent_id", "sentid"),
        "token": ("token", "subword", "word"),
        "token_id": ("token_id", "token_index", "position", "sentpos"),
    }
)
_LOGPROBS = ("logprob", "log_prob", "logprobs", "log_probability", "loglikelihood",
             "log_likelihood", "score")  # fmt: skip
VERSIONS = {"good": Variant.GOOD, "bad": Variant.BAD, "grammatical": Variant.GOOD,
             "ungrammatical": Variant.BAD, "acceptable": Variant.GOOD,
             "unacceptable": Variant.BAD}  # fmt: skip
MISSING = {"", "none", "nan", "na", "null"}


@dataclass(frozen=True, slots=True)
class ScoreColumn:
    """A column of scores: the factor for its numbers, and the version that it scores."""

    header: str
    factor: float
    variant: str = ""


def text_columns(table: RawTable, named: Mapping[str, str]) -> dict[str, str]:
    """Return the table's header for each Parallax column except the scores.

    Raises:
        AnalysisError: A named header is missing.
    """
    if unknown := [header for header in named.values() if header not in table.columns]:
        raise AnalysisError(
            f'there is no column "{unknown[0]}"',
            where=str(table.path),
            expected=f"one of: {', '.join(table.columns)}",
        )
    by_key = {key_of(name): name for name in reversed(table.columns)}
    found = {ours: named[ours] for ours in _NAMES if ours in named}
    for ours, names in _NAMES.items():
        for name in names:
            if ours not in found and name in by_key:
                found[ours] = by_key[name]
    return found


def score_columns(table: RawTable, unit: str, named: Mapping[str, str]) -> list[ScoreColumn]:
    """Return the column of scores, or those of the good and bad version; may be empty."""
    factor = UNITS[unit]
    # The columns of a pair are logprob_good and logprob_bad, or surprisal_good and so on.
    for ours, sign in (("logprob", 1), ("surprisal", -1)):
        if ours in named:
            # A header's unit applies under any name.
            own = abs(_factors(factor).get(key_of(named[ours]), factor))
            return [ScoreColumn(named[ours], sign * own)]
        if both := [one for one in VERSIONS if f"{ours}_{one}" in named]:
            return [
                ScoreColumn(named[f"{ours}_{one}"], sign * factor, VERSIONS[one]) for one in both
            ]
    known = _factors(factor)
    by_key = {key_of(name): name for name in reversed(table.columns)}
    alone = [ScoreColumn(by_key[name], value) for name, value in known.items() if name in by_key]
    if alone:
        return alone[:1]
    pairs = [
        ScoreColumn(by_key[header], value, variant)
        for name, value in known.items()
        for word, variant in VERSIONS.items()
        for header in (f"{name}_{word}", f"{word}_{name}", f"sentence_{word}_{name}")
        if header in by_key
    ]
    variants = [column.variant for column in pairs]
    return pairs if sorted(variants) == [Variant.BAD, Variant.GOOD] else []


def _factors(unit: float) -> dict[str, float]:
    """Return the factor for the numbers under each header; headers with a unit come first."""
    units = {"nats": 1.0, "bits": UNITS["bits"], "log2": UNITS["bits"], "log10": UNITS["log10"]}
    factors = {f"{name}_{own}": value for name in _LOGPROBS for own, value in units.items()}
    factors |= {f"surprisal_{own}": -value for own, value in units.items()}
    # neural-complexity and LM_syneval print "surp" in bits.
    factors |= {"surp": -UNITS["bits"]}
    return factors | dict.fromkeys(_LOGPROBS, unit) | {"surprisal": -unit}


def nats_of(number: str, column: ScoreColumn, place: str) -> float:
    """Return a cell of a score column as a log-probability in nats.

    Raises:
        AnalysisError: The value is not a log-probability.
    """
    try:
        nats = float(number) * column.factor
    except ValueError:
        nats = math.nan
    if not -math.inf < nats <= 0:
        raise AnalysisError(
            f'"{number}" in the column "{column.header}" is not a log-probability',
            where=place,
            expected="a number at most 0; for a surprisal, at least 0",
            remedy="If the column holds surprisals, add --column surprisal=" + column.header,
        )
    # Adding 0 turns -0.0 (from a surprisal of 0) into 0.0.
    return nats + 0.0
