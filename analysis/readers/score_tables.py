"""Read models' scores of any program: rows of texts, pairs or tokens, or printed lists."""

import ast
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from analysis.errors import AnalysisError
from analysis.readers.token_places import is_special, refuse_moved_scores, strip_boundary_marker
from experiment.errors import MaterialsError
from experiment.materials.formats.delimited import MISSING_NUMBERS
from experiment.materials.formats.options import find_further_options
from experiment.materials.formats.raw import RawRow, RawTable, read_raw, read_text
from experiment.materials.formats.words import BAD_WORDS, GOOD_WORDS, key_of
from experiment.records import Variant

UNITS = MappingProxyType({"nats": 1.0, "bits": math.log(2), "log10": math.log(10)})
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
VERSION_WORDS = dict.fromkeys(("good", "grammatical", "acceptable"), Variant.GOOD)
VERSION_WORDS |= dict.fromkeys(("bad", "ungrammatical", "unacceptable"), Variant.BAD)


@dataclass(frozen=True, slots=True)
class ScoreColumn:
    """A column of scores: the factor for its numbers, and the version that it scores."""

    header: str
    factor: float
    variant: str = ""


def find_text_headers(table: RawTable, chosen: Mapping[str, str]) -> dict[str, str]:
    """Return the table's header for each Parallax column except the scores.

    Raises:
        AnalysisError: A named header is missing.
    """
    if unknown := [header for header in chosen.values() if header not in table.columns]:
        raise AnalysisError(
            f'there is no column "{unknown[0]}"',
            where=str(table.path),
            expected=f"one of: {', '.join(table.columns)}",
        )
    by_key = {key_of(name): name for name in reversed(table.columns)}
    headers = {column: chosen[column] for column in _NAMES if column in chosen}
    for column, names in _NAMES.items():
        for name in names:
            if column not in headers and name in by_key:
                headers[column] = by_key[name]
    return headers


def find_score_columns(table: RawTable, unit: str, chosen: Mapping[str, str]) -> list[ScoreColumn]:
    """Return the column of scores, or those of the good and bad version; may be empty."""
    factor = UNITS[unit]
    # The columns of a pair are logprob_good and logprob_bad, or surprisal_good and so on.
    for kind, sign in (("logprob", 1), ("surprisal", -1)):
        if kind in chosen:
            # A header's unit applies under any name.
            unit_factor = abs(_unit_factors(factor).get(key_of(chosen[kind]), factor))
            return [ScoreColumn(chosen[kind], sign * unit_factor)]
        if versions := [version for version in VERSION_WORDS if f"{kind}_{version}" in chosen]:
            return [
                ScoreColumn(chosen[f"{kind}_{version}"], sign * factor, VERSION_WORDS[version])
                for version in versions
            ]
    factors = _unit_factors(factor)
    by_key = {key_of(name): name for name in reversed(table.columns)}
    alone = [ScoreColumn(by_key[name], value) for name, value in factors.items() if name in by_key]
    if alone:
        return alone[:1]
    pairs = [
        ScoreColumn(by_key[header], value, variant)
        for name, value in factors.items()
        for word, variant in VERSION_WORDS.items()
        for header in (f"{name}_{word}", f"{word}_{name}", f"sentence_{word}_{name}")
        if header in by_key
    ]
    variants = [column.variant for column in pairs]
    return pairs if sorted(variants) == [Variant.BAD, Variant.GOOD] else []


def _unit_factors(unit: float) -> dict[str, float]:
    """Return the factor for the numbers under each header; headers with a unit come first."""
    units = {"nats": 1.0, "bits": UNITS["bits"], "log2": UNITS["bits"], "log10": UNITS["log10"]}
    factors = {f"{name}_{suffix}": value for name in _LOGPROBS for suffix, value in units.items()}
    factors |= {f"surprisal_{suffix}": -value for suffix, value in units.items()}
    # neural-complexity and LM_syneval print "surp" in bits.
    factors |= {"surp": -UNITS["bits"]}
    return factors | dict.fromkeys(_LOGPROBS, unit) | {"surprisal": -unit}


def parse_nats(number: str, column: ScoreColumn, location: str) -> float:
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
            where=location,
            expected="a number at most 0; for a surprisal, at least 0",
            remedy="If the column holds surprisals, add --column surprisal=" + column.header,
        )
    # Adding 0 turns -0.0 (from a surprisal of 0) into 0.0.
    return nats + 0.0


@dataclass(frozen=True, slots=True)
class ScoredText:
    """A file's score of one text.

    Attributes:
        place: The location in the file.
        logprobs_nats: The text's log-probability, or one for each of its tokens.
        model: The model; empty if the file does not name it.
        item_id, variant: The item and its version; empty if the text identifies them.
        text: The text with its context; empty if item and version identify it.
        tokens: The tokens, if the file has them.
        of_choice: Whether the log-probability is that of the item's option given its context.
    """

    place: str
    logprobs_nats: tuple[float, ...]
    model: str = ""
    item_id: str = ""
    variant: str = ""
    text: str = ""
    tokens: tuple[str, ...] = ()
    of_choice: bool = False


def read_score_table(
    table: RawTable, unit: str, chosen: Mapping[str, str]
) -> tuple[list[ScoredText], list[str]]:
    """Return a table's scores, and the decisions made while reading, in sentences.

    Args:
        table: The table.
        unit: The unit of scores whose header does not name a unit.
        chosen: The table's header for each Parallax column, if it differs.

    Raises:
        AnalysisError: No column has scores, or a score is not a log-probability.
    """
    headers = find_text_headers(table, chosen)
    scores = find_score_columns(table, unit, chosen)
    paired = bool(scores) and all(
        column.variant and _text_of_version(table.rows[0], {}, column.variant) for column in scores
    )
    if not scores or not (paired or {"text", "sentence_id", "item_id"} & headers.keys()):
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
    if "token" in headers:
        rows, token_notes = _join_token_rows(table, headers, scores[0])
        return rows, [*notes, *token_notes]
    return [scored for row in table.rows for scored in _scores_of_row(row, headers, scores)], notes


def _scores_of_row(
    row: RawRow, headers: Mapping[str, str], scores: Iterable[ScoreColumn]
) -> Iterator[ScoredText]:
    values = {name: row.values[header] for name, header in headers.items()}
    text = f"{values.get('context', '')} {values.get('text', '')}".strip()
    for score_column in scores:
        variant = score_column.variant or _parse_variant(values.get("variant", ""))
        numbers = row.values[score_column.header].split()
        yield ScoredText(
            row.place,
            tuple(parse_nats(number, score_column, row.place) for number in numbers or [""]),
            values.get("model", ""),
            values.get("item_id", ""),
            variant,
            _text_of_version(row, values, score_column.variant) if score_column.variant else text,
        )


def _text_of_version(row: RawRow, values: Mapping[str, str], variant: str) -> str:
    """Return the text that belongs to one of a row's two scores; empty if there is none."""
    words = [word for word, version in VERSION_WORDS.items() if version == variant]
    by_key = {key_of(name): value for name, value in row.values.items()}
    names = [
        name
        for word in words
        for name in (word, f"sentence_{word}", f"{word}_sentence", f"text_{word}", f"{word}_text")
    ]
    text = next((by_key[name] for name in names if by_key.get(name)), "")
    # The text of a pair's row cannot be assigned to a version, nor can a number.
    return f"{values.get('context', '')} {text}".strip() if " " in text or not text else ""


def _parse_variant(word: str) -> str:
    lower, own = word.lower(), next(iter(find_further_options([word])), "")
    if lower in GOOD_WORDS | BAD_WORDS:
        return Variant.GOOD if lower in GOOD_WORDS else Variant.BAD
    return lower if lower in set(Variant) else own


def _join_token_rows(
    table: RawTable, headers: Mapping[str, str], column: ScoreColumn
) -> tuple[list[ScoredText], list[str]]:
    """Return one text per group of rows that differ only in the token, and irregularities."""
    keys = [
        headers[name] for name in ("model", "item_id", "variant", "sentence_id") if name in headers
    ]
    if "sentence_id" not in headers and "text" in headers:
        keys.append(headers["text"])
    groups: dict[tuple[str, ...], list[RawRow]] = {}
    for row in table.rows:
        groups.setdefault(tuple(row.values[key] for key in keys), []).append(row)
    scored, empty = [], 0
    for rows in groups.values():
        if "token_id" in headers:
            rows.sort(key=lambda row: _token_position(row, headers["token_id"]))
        scored_text, missing = _join_tokens(rows, headers, column)
        scored.append(scored_text)
        empty += missing
    texts = [_without_special(rows, headers["token"]) for rows in groups.values()]
    cells = [[row.values[column.header] for row in rows] for rows in texts]
    refuse_moved_scores(cells, table.path)
    return scored, list(_warn_about_tokens(table, groups.values(), headers, empty))


def _without_special(rows: Iterable[RawRow], token: str) -> list[RawRow]:
    return [row for row in rows if not is_special(row.values[token])]


def _warn_about_tokens(
    table: RawTable, groups: Iterable[list[RawRow]], headers: Mapping[str, str], empty: int
) -> Iterator[str]:
    """Yield warnings about the tokens, in sentences."""
    token = headers["token"]
    if empty:
        yield f"{empty} tokens have no score, such as first words; they are left out."
    special = sum(is_special(row.values[token]) for row in table.rows)
    if special:
        yield (
            f"{special} tokens stand for no piece of a text, such as <eos>; they and their scores "
            "are left out."
        )
    if "text" not in headers:
        return
    unlike = []
    for rows in groups:
        text = re.sub(r"\s", "", rows[0].values[headers["text"]])
        tokens = [row.values[token] for row in _without_special(rows, token)]
        joined = re.sub(r"\s", "", "".join(map(strip_boundary_marker, tokens)))
        # Byte-level tokenizers write non-ASCII letters as other letters.
        if text.isascii() and joined != text:
            unlike.append((joined, rows[0]))
    if unlike:
        joined, row = unlike[0]
        yield (
            f"Of {len(unlike):,} texts the joined tokens differ from the text in the same row; the "
            f'first is "{row.values[headers["text"]][:60]}" ({row.place}), with "{joined[:60]}". '
            "Were rows lost, doubled or exchanged?"
        )


def _token_position(row: RawRow, header: str) -> float:
    try:
        return float(row.values[header])
    except ValueError as error:
        raise AnalysisError(
            f'"{row.values[header]}" is not the position of a token',
            where=row.place,
            expected="a number",
        ) from error


def _join_tokens(
    rows: list[RawRow], headers: Mapping[str, str], column: ScoreColumn
) -> tuple[ScoredText, int]:
    values = {name: rows[0].values[header] for name, header in headers.items()}
    parts = _without_special(rows, headers["token"])
    scored_parts = [
        row for row in parts if row.values[column.header].lower() not in MISSING_NUMBERS
    ]
    if not scored_parts:
        raise AnalysisError("a text has no score at all", where=rows[0].place, expected="a number")
    tokens = [row.values[headers["token"]] for row in parts]
    text = values["text"] if "text" in values else "".join(map(strip_boundary_marker, tokens))
    scored = ScoredText(
        rows[0].place,
        tuple(parse_nats(row.values[column.header], column, row.place) for row in scored_parts),
        values.get("model", ""),
        values.get("item_id", ""),
        _parse_variant(values.get("variant", "")),
        f"{values.get('context', '')} {text}".strip(),
        tuple(row.values[headers["token"]] for row in scored_parts),
    )
    return scored, len(parts) - len(scored_parts)


_DELIMITED = (".csv", ".tsv", ".tab", ".xlsx", ".jsonl", ".json", ".parquet")
# A space-separated header must name a token column and a score column.
_TOKENS = {"word", "token", "sentence", "text"}
_SCORES = {"surp", "surprisal", "logprob", "log_prob", "logprob_nats", "score"}
_SPACES_NOTE = "Columns are divided by spaces."


def read_scores(path: Path, headers: Sequence[str] = (), sheet: str = "") -> RawTable:
    """Read a file of scores as a table, with or without delimiters, and with or without headers.

    Raises:
        AnalysisError: A line has more or fewer values than there are columns.
        MaterialsError: The file cannot be read.
    """
    if headers or sheet or path.suffix.lower() in (".tab", ".xlsx", ".jsonl", ".json", ".parquet"):
        return read_raw(path, columns=headers, sheet_title=sheet)
    text, notes = read_text(path)
    lines = [(n, line) for n, line in enumerate(text.splitlines(), start=1) if line.strip()]
    header = lines[0][1].split() if lines else []
    if text.lstrip().startswith("[") and path.suffix.lower() not in _DELIMITED:
        return _read_printed_lists(path, text)
    names = {key_of(cell) for cell in header}
    if not (names & _TOKENS and names & _SCORES) or any(m in lines[0][1] for m in "\t,;|"):
        return read_raw(path)
    rows = [RawRow(f"{path}, line {n}", _cut_line(path, n, header, line)) for n, line in lines[1:]]
    return RawTable(path, tuple(header), tuple(rows), (*notes, _SPACES_NOTE))


def _cut_line(path: Path, number: int, header: Sequence[str], line: str) -> dict[str, str]:
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


def _read_printed_lists(path: Path, text: str) -> RawTable:
    """Read printed lists of (token, score) as a table: one list per text."""
    try:
        token_lists = ast.literal_eval(text.strip())
        token_lists = token_lists if isinstance(token_lists[0], list) else [token_lists]
        rows = [
            (str(n), str(index), str(token), "" if value is None else repr(float(value)))
            for n, pairs in enumerate(token_lists)
            for index, (token, value, *_) in enumerate(pairs)
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
    note = f"Read as lists of tokens, as minicons prints them; the numbers are taken for {name}s."
    return RawTable(path, header, tuple(table), (note,))
