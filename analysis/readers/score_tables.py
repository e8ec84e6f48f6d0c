"""Read models' scores of any program: rows of texts, pairs or tokens, or printed lists."""

import ast
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from analysis.errors import AnalysisError
from experiment.errors import MaterialsError
from experiment.materials.formats.columns import key_of
from experiment.materials.formats.pairs import BAD_WORDS, GOOD_WORDS
from experiment.materials.formats.raw import RawRow, RawTable, read_raw, read_text
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
        if both := [version for version in VERSIONS if f"{ours}_{version}" in named]:
            return [
                ScoreColumn(named[f"{ours}_{version}"], sign * factor, VERSIONS[version])
                for version in both
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


# Special tokens outside the text: <s>, </s>, <|endoftext|>, [CLS].
_SPECIAL = re.compile(r"<\|?/?[\w ]+\|?>|\[[A-Z]+\]")


@dataclass(frozen=True, slots=True)
class Scored:
    """A file's score of one text.

    Attributes:
        place: The location in the file.
        logprobs_nats: The text's log-probability, or one for each of its tokens.
        model: The model; empty if the file does not name it.
        item_id: The item; empty if the text identifies it.
        variant: The version of the item; empty if the text identifies it.
        text: The text with its context; empty if item and version identify it.
        tokens: The tokens, if the file has them.
    """

    place: str
    logprobs_nats: tuple[float, ...]
    model: str = ""
    item_id: str = ""
    variant: str = ""
    text: str = ""
    tokens: tuple[str, ...] = ()


def read_score_table(
    table: RawTable, unit: str, named: Mapping[str, str]
) -> tuple[list[Scored], list[str]]:
    """Return a table's scores, and the decisions made while reading, in sentences.

    Args:
        table: The table.
        unit: The unit of scores whose header does not name a unit.
        named: The table's header for each Parallax column, if it differs.

    Raises:
        AnalysisError: No column has scores, or a score is not a log-probability.
    """
    found = text_columns(table, named)
    scores = score_columns(table, unit, named)
    paired = bool(scores) and all(
        column.variant and _text_of(table.rows[0], {}, column.variant) for column in scores
    )
    if not scores or not (paired or {"text", "sentence_id", "item_id"} & found.keys()):
        raise AnalysisError(
            "no column holds scores"
            if not scores
            else "no column says which texts or items the scores belong to",
            where=str(table.path),
            expected="a column such as logprob_nats, logprob or surprisal_bits; and text, or "
            "item_id and variant, or sentence_id and token",
            remedy="Name it: --column logprob=HEADER. The columns are " + ", ".join(table.columns),
        )
    units = {"surp": " in bits"}
    notes = [
        *table.notes,
        "Scores from the column "
        f"{', '.join(f'{column.header}{units.get(column.header, str())}' for column in scores)}.",
    ]
    if "token" in found:
        rows, said = _from_tokens(table, found, scores[0])
        return rows, [*notes, *said]
    return [one for row in table.rows for one in _from_row(row, found, scores)], notes


def _from_row(
    row: RawRow, found: Mapping[str, str], scores: Iterable[ScoreColumn]
) -> Iterator[Scored]:
    own = {ours: row.values[header] for ours, header in found.items()}
    text = f"{own.get('context', '')} {own.get('text', '')}".strip()
    for column in scores:
        variant = column.variant or _variant(own.get("variant", ""))
        numbers = row.values[column.header].split()
        yield Scored(
            row.place,
            tuple(nats_of(number, column, row.place) for number in numbers or [""]),
            own.get("model", ""),
            own.get("item_id", ""),
            variant,
            _text_of(row, own, column.variant) if column.variant else text,
        )


def _text_of(row: RawRow, own: Mapping[str, str], variant: str) -> str:
    """Return the text that belongs to one of a row's two scores; empty if there is none."""
    words = [word for word, one in VERSIONS.items() if one == variant]
    by_key = {key_of(name): value for name, value in row.values.items()}
    names = [
        name
        for word in words
        for name in (word, f"sentence_{word}", f"{word}_sentence", f"text_{word}", f"{word}_text")
    ]
    text = next((by_key[name] for name in names if by_key.get(name)), "")
    # The text of a pair's row cannot be assigned to a version, nor can a number.
    return f"{own.get('context', '')} {text}".strip() if " " in text or not text else ""


def _variant(word: str) -> str:
    lower = word.lower()
    if lower in GOOD_WORDS:
        return Variant.GOOD
    return Variant.BAD if lower in BAD_WORDS else lower if lower in set(Variant) else ""


def _from_tokens(
    table: RawTable, found: Mapping[str, str], column: ScoreColumn
) -> tuple[list[Scored], list[str]]:
    """Return one text per group of rows that differ only in the token, and irregularities."""
    keys = [found[name] for name in ("model", "item_id", "variant", "sentence_id") if name in found]
    if "sentence_id" not in found and "text" in found:
        keys.append(found["text"])
    groups: dict[tuple[str, ...], list[RawRow]] = {}
    for row in table.rows:
        groups.setdefault(tuple(row.values[key] for key in keys), []).append(row)
    scored, empty = [], 0
    for rows in groups.values():
        if "token_id" in found:
            rows.sort(key=lambda row: _number(row, found["token_id"]))
        one, missing = _joined(rows, found, column)
        scored.append(one)
        empty += missing
    return scored, list(_odd(table, groups.values(), found, empty))


def _odd(
    table: RawTable, groups: Iterable[list[RawRow]], found: Mapping[str, str], empty: int
) -> Iterator[str]:
    """Yield warnings about the tokens, in sentences."""
    token = found["token"]
    if empty:
        yield f"{empty} tokens have no score, such as first words; they are left out."
    special = sum(bool(_SPECIAL.fullmatch(row.values[token])) for row in table.rows)
    if special:
        yield (
            f"{special} tokens stand for no piece of a text, such as <eos>; they and their scores "
            "are left out."
        )
    if "text" not in found:
        return
    unlike = []
    for rows in groups:
        text = re.sub(r"\s", "", rows[0].values[found["text"]])
        tokens = [row.values[token] for row in rows if not _SPECIAL.fullmatch(row.values[token])]
        joined = re.sub(r"\s", "", "".join(map(_plain, tokens)))
        # Byte-level tokenizers write non-ASCII letters as other letters.
        if text.isascii() and joined != text:
            unlike.append((joined, rows[0]))
    if unlike:
        joined, row = unlike[0]
        yield (
            f"Of {len(unlike):,} texts the tokens together are not the text beside them; the first "
            f'is "{row.values[found["text"]][:60]}" ({row.place}), with "{joined[:60]}". Were rows '
            "lost, doubled or exchanged?"
        )


def _number(row: RawRow, header: str) -> float:
    try:
        return float(row.values[header])
    except ValueError as error:
        raise AnalysisError(
            f'"{row.values[header]}" is not the position of a token',
            where=row.place,
            expected="a number",
        ) from error


def _joined(
    rows: list[RawRow], found: Mapping[str, str], column: ScoreColumn
) -> tuple[Scored, int]:
    own = {ours: rows[0].values[header] for ours, header in found.items()}
    parts = [row for row in rows if not _SPECIAL.fullmatch(row.values[found["token"]])]
    kept = [row for row in parts if row.values[column.header].lower() not in MISSING]
    if not kept:
        raise AnalysisError("a text has no score at all", where=rows[0].place, expected="a number")
    tokens = [row.values[found["token"]] for row in parts]
    text = own["text"] if "text" in own else "".join(map(_plain, tokens))
    one = Scored(
        rows[0].place,
        tuple(nats_of(row.values[column.header], column, row.place) for row in kept),
        own.get("model", ""),
        own.get("item_id", ""),
        _variant(own.get("variant", "")),
        f"{own.get('context', '')} {text}".strip(),
        tuple(row.values[found["token"]] for row in kept),
    )
    return one, len(parts) - len(kept)


def _plain(token: str) -> str:
    """Return a token without the tokenizer's markers for word boundaries."""
    return re.sub(r"^##|^[\u2581\u0120]|</w>$", "", token)


_DELIMITED = (".csv", ".tsv", ".tab", ".xlsx", ".jsonl", ".json", ".parquet")
# A space-separated header must name a token column and a score column.
_PIECES = {"word", "token", "sentence", "text"}
_SCORES = {"surp", "surprisal", "logprob", "log_prob", "logprob_nats", "score"}
_NOTE = "Columns are divided by spaces."


def read_scores(path: Path) -> RawTable:
    """Read a file of scores as a table, with or without delimiters.

    Raises:
        AnalysisError: A line has more or fewer values than there are columns.
        MaterialsError: The file cannot be read.
    """
    if path.suffix.lower() in _DELIMITED[:-1] and path.suffix.lower() not in (".csv", ".tsv"):
        return read_raw(path)
    text, notes = read_text(path)
    lines = [(n, one) for n, one in enumerate(text.splitlines(), start=1) if one.strip()]
    header = lines[0][1].split() if lines else []
    if text.lstrip().startswith("[") and path.suffix.lower() not in _DELIMITED:
        return _printed_lists(path, text)
    names = {key_of(cell) for cell in header}
    if not (names & _PIECES and names & _SCORES) or any(m in lines[0][1] for m in "\t,;|"):
        return read_raw(path)
    rows = [RawRow(f"{path}, line {n}", _cells(path, n, header, one)) for n, one in lines[1:]]
    return RawTable(path, tuple(header), tuple(rows), (*notes, _NOTE))


def _cells(path: Path, number: int, header: Sequence[str], line: str) -> dict[str, str]:
    values = line.split()
    # A printed data frame starts each row with its number, which has no header.
    if len(values) == len(header) + 1 and values[0].isdecimal():
        values = values[1:]
    if len(values) != len(header):
        raise AnalysisError(
            f"the line has {len(values)} values, but there are {len(header)} columns",
            where=f"{path}, line {number}",
            expected="one value in each column; a piece of text without spaces",
            remedy="Write the table with tabs or commas between the columns",
        )
    return dict(zip(header, values, strict=True))


def _printed_lists(path: Path, text: str) -> RawTable:
    """Read printed lists of (token, score) as a table: one list per text."""
    try:
        found = ast.literal_eval(text.strip())
        found = found if isinstance(found[0], list) else [found]
        rows = [
            (str(n), str(place), str(token), "" if value is None else repr(float(value)))
            for n, one in enumerate(found)
            for place, (token, value, *_) in enumerate(one)
        ]
    except (ValueError, SyntaxError, TypeError, IndexError, MemoryError, RecursionError) as error:
        raise MaterialsError(
            f"the lists cannot be read ({error})",
            where=str(path),
            expected="what minicons prints: a list for each text, of pairs of token and score",
        ) from error
    positive = any(float(row[3]) > 0 for row in rows if row[3])
    name = "surprisal" if positive else "logprob"
    header = ("sentence_id", "token_id", "token", name)
    table = [
        RawRow(f"{path}, text {int(row[0]) + 1}, token {int(row[1]) + 1}",
               dict(zip(header, row, strict=True)))
        for row in rows
    ]  # fmt: skip
    said = f"Read as lists of tokens, as minicons prints them; the numbers are taken for {name}s."
    return RawTable(path, header, tuple(table), (said,))
