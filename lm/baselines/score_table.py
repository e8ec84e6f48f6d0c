"""Scores from a table, for models that were run outside Parallax."""

import csv
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lm.errors import LmError, why_unread
from lm.model_folder import read_config
from lm.scorer import TokenScores


class _TabDialect(csv.excel_tab):
    """A table separated by tabs, without quoting: a quotation mark is part of the text."""

    quoting = csv.QUOTE_NONE


TABLES: dict[str, type[csv.Dialect]] = {"scores.tsv": _TabDialect, "scores.csv": csv.excel}
# Factors that convert a column's numbers to natural logarithms.
NATS_PER_UNIT = {"logprob_nats": 1.0, "logprob_log10": math.log(10), "logprob_log2": math.log(2)}
NATS_PER_UNIT |= {"surprisal_bits": -math.log(2)}


class FixedScorer:
    """A table of scores as a ``Scorer``; it only scores texts in the table.

    Args:
        scores: (context, text) to the natural-log probabilities of the text's tokens, or to one
            number for the text as a whole, which then counts as a single token. White space in the
            keys is single spaces.
        name: The model's name in tables and figures.
        trained_on: The text the outside model was trained on.
        source: The table's path, for messages.
    """

    def __init__(
        self,
        scores: dict[tuple[str, str], tuple[float, ...]],
        *,
        name: str,
        trained_on: str,
        source: str,
    ) -> None:
        self.name, self.trained_on, self._scores, self._source = name, trained_on, scores, source

    @classmethod
    def load(cls, folder: Path) -> "FixedScorer":
        """Return the table in a folder: config.json next to scores.tsv or scores.csv.

        Raises:
            LmError: There is no table, or one of its lines is invalid.
        """
        config = read_config(folder)
        path = next((folder / name for name in TABLES if (folder / name).is_file()), None)
        if path is None:
            raise LmError(f"{folder} holds no table of scores. Put {' or '.join(TABLES)} there.")
        name = str(config.get("name", folder.name))
        trained_on = str(config.get("trained_on", "unknown text"))
        return cls(_read(path), name=name, trained_on=trained_on, source=str(path))

    @property
    def cased(self) -> bool:
        """Whether the table's texts contain capital letters."""
        return any(text != text.lower() for _, text in self._scores)

    def score(self, requests: Sequence[tuple[str, str]]) -> list[TokenScores]:
        """Return each continuation's scores; see ``Scorer``. No word is marked as unknown.

        Raises:
            LmError: The table has no row for a request.
        """
        return [
            self._score_one(_single_spaced(context), _single_spaced(text))
            for context, text in requests
        ]

    def _score_one(self, context: str, text: str) -> TokenScores:
        logprobs = self._scores.get((context, text)) if text else ()
        if logprobs is None:
            raise LmError(
                f'{self._source} has no row for the text "{text}"'
                + (f' after the context "{context}"' if context else "")
                + ". Add its score; case, punctuation and tokens must be those of the rendering."
            )
        words = tuple(text.split())
        tokens = words if len(words) == len(logprobs) else (text,) * len(logprobs)
        return TokenScores(tokens, np.array(logprobs, float), np.zeros(len(tokens), np.bool_))


def _single_spaced(text: str) -> str:
    return " ".join(text.split())


def _read(path: Path) -> dict[tuple[str, str], tuple[float, ...]]:
    scores: dict[tuple[str, str], tuple[float, ...]] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            table = csv.DictReader(file, dialect=TABLES[path.name])
            unit = _find_unit(table.fieldnames or (), path)
            for row in table:
                location = f"{path}, line {table.line_num}"
                key = _single_spaced(row.get("context") or ""), _single_spaced(row["text"] or "")
                logprobs = _parse_logprobs(row[unit] or "", key[1], NATS_PER_UNIT[unit], location)
                if scores.setdefault(key, logprobs) != logprobs:
                    raise LmError(
                        f'{location}: "{key[1]}" occurs earlier with another score. '
                        "Keep one of them."
                    )
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise LmError(
            f"cannot read the scores {path} ({why_unread(error, path)}). Give a table in UTF-8."
        ) from error
    return scores


def _find_unit(columns: Sequence[str], path: Path) -> str:
    units = [column for column in columns if column in NATS_PER_UNIT]
    if "text" not in columns or len(units) != 1:
        raise LmError(
            f"{path} has the columns {', '.join(columns) or '(none)'}. Expected text, if texts "
            f"have contexts also context, and exactly one of {', '.join(NATS_PER_UNIT)}."
        )
    return units[0]


def _parse_logprobs(cell: str, text: str, factor: float, location: str) -> tuple[float, ...]:
    """Return the numbers in a cell in nats: one for the text, or one for each of its words."""
    try:
        logprobs = tuple(float(number) * factor for number in cell.split())
    except ValueError:
        logprobs = ()
    if len(logprobs) not in {1, len(text.split())} or not all(
        -math.inf < logprob <= 0 for logprob in logprobs
    ):
        raise LmError(
            f'{location}: "{cell}" is not a valid score of "{text}". Expected a log-probability, '
            f"at most 0 (a surprisal: at least 0), for the whole text or for each of its words."
        )
    # Adding 0 turns the -0.0 of a surprisal of 0 into 0.0.
    return tuple(logprob + 0.0 for logprob in logprobs)
