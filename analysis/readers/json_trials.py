"""Read trials that browsers recorded in JSON."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeGuard

import pandas as pd

RESULT_COLUMN = "result"


def trials_as_text(trials: Iterable[Mapping[Any, object]]) -> pd.DataFrame:
    """Convert trials to a table of texts; missing values become empty.

    Nested values are named by their path: ``{"response": {"Q0": "a"}}`` has the column
    ``response.Q0``.
    """
    rows = [dict(_flatten(trial)) for trial in trials]
    # Keep objects: next to missing values, integers would become decimals, "1" in one file and
    # "1.0" in the next.
    table = pd.DataFrame(rows, dtype=object)
    return table.map(lambda value: "" if _is_missing(value) else _format_value(value))


def _flatten(trial: Mapping[Any, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in trial.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _is_missing(value: object) -> bool:
    return value is None or value != value


def _format_value(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else str(value)


def read_json(text: str) -> tuple[pd.DataFrame, bool]:
    """Return the trials of JSON text, and whether it contained several results.

    A result is a list of trials, a trial, or an object with the list under ``trials`` or ``data``.
    JATOS writes one result after the other, each on lines of its own; the column ``result`` numbers
    them. Single trials, one after the other, are not numbered.
    """
    results = list(_decode_documents(text))
    single = [result for result in results if _is_trial(result)]
    if 1 < len(single) == len(results):
        # The order of trials does not identify the participant.
        return trials_as_text(single), False
    return number_results(results), len(results) > 1


def _is_trial(document: object) -> TypeGuard[dict[str, object]]:
    return isinstance(document, dict) and not any(
        _is_trial_list(value) for value in document.values()
    )


def number_results(results: Iterable[object]) -> pd.DataFrame:
    """Return the trials of several results, with the column ``result`` from 1."""
    return trials_as_text(
        {RESULT_COLUMN: number} | trial
        for number, result in enumerate(results, start=1)
        for trial in extract_trials(result)
    )


def extract_trials(result: object) -> Iterator[dict[str, object]]:
    """Yield the trials of a result, from any list or object that contains them.

    Raises:
        ValueError: The result contains no trials.
    """
    if isinstance(result, list):
        for part in result:
            yield from extract_trials(part)
    elif isinstance(result, dict):
        trials = next(
            (result[key] for key in ("trials", "data") if _is_trial_list(result.get(key))), None
        )
        if trials is None:
            yield result
            return
        shared = {key: value for key, value in result.items() if value is not trials}
        for trial in extract_trials(trials):
            yield {**shared, **trial}
    else:
        raise ValueError(f"a trial must be a JSON object, not {str(result)[:40]}")


def _is_trial_list(value: object) -> bool:
    return (
        isinstance(value, list) and bool(value) and all(isinstance(trial, dict) for trial in value)
    )


def _decode_documents(text: str) -> Iterator[object]:
    decoder, position = json.JSONDecoder(), 0
    while remaining := text[position:].lstrip():
        position = len(text) - len(remaining)
        document, position = decoder.raw_decode(text, position)
        yield document
