"""Find table rows whose trials also decide exclusion, and the bias that this causes."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import binom

from analysis.data.load import PEOPLE, ExportedRun
from analysis.data.own_columns import header, list_own_columns
from analysis.tables.accuracy_table import Table
from experiment.errors import ParallaxError
from experiment.exclusion.base import ExclusionRule
from experiment.exclusion.rules import load_rule
from experiment.exclusion.selection import Selection
from experiment.participation import State
from experiment.records import Kind
from experiment.studies.study import Rule

_NEGLIGIBLE = 1e-9


def printed_accuracy(true: float, n_trials: int, most_errors: int, share: float = 1.0) -> float:
    """Return the accuracy expected in a row after excluding participants with too many errors.

    Errors on the deciding trials are binomial; participants with more than ``most_errors`` are
    excluded. The row's errors are the mean of the remaining ones, ``sum x P(x) / sum P(x)`` over x
    from 0 to ``most_errors``.

    Args:
        true: The true accuracy of all participants.
        n_trials: The number of deciding trials.
        most_errors: The maximum number of errors of kept participants.
        share: The share of the row's trials that decide; the others keep their true accuracy.
    """
    if true <= 0:
        return share * (n_trials - most_errors) / n_trials
    errors = range(min(most_errors, n_trials) + 1)
    weights = [float(binom.pmf(x, n_trials, 1 - true)) for x in errors]
    if not sum(weights):
        return printed_accuracy(0, n_trials, most_errors, share)
    wrong = sum(x * weight for x, weight in zip(errors, weights, strict=True)) / sum(weights)
    return (1 - share) * true + share * (1 - wrong / n_trials)


def true_accuracy(
    printed: float, n_trials: int, most_errors: int, share: float = 1.0
) -> float | None:
    """Return the true accuracy that gives the printed accuracy; None if there is none.

    Args:
        printed: The row's accuracy after exclusion.
        n_trials: The number of deciding trials.
        most_errors: The maximum number of errors of kept participants.
        share: The share of the row's trials that decide.
    """
    expected = partial(printed_accuracy, n_trials=n_trials, most_errors=most_errors, share=share)
    if printed >= 1:
        return 1.0
    if not expected(_NEGLIGIBLE) <= printed:
        return None
    return float(brentq(lambda true: expected(true) - printed, _NEGLIGIBLE, 1))


# The example accuracy in every note; a typical value for participants.
_EXAMPLE_ACCURACY = 0.9


@runtime_checkable
class CountsErrors(Protocol):
    """A rule of the form "at most k errors in n trials"."""

    def most_errors(self, n_trials: int) -> int:
        """Return the maximum number of errors a kept participant may make in n selected trials."""


def biased_rows(run: ExportedRun, accuracy: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return the table rows whose trials decide exclusion by a number of errors.

    Only rules that count errors are considered, alone or within ``any``; the effect on accuracy of
    rules about times, sides and answers cannot be computed.

    Args:
        run: The exported run.
        accuracy: Accuracies in long form, by the same columns.
        by: The columns that make a row: construction, and condition or not.

    Returns:
        One row per rule and row of the table: the columns of ``by``, rule, n_trials (that decide),
        most_errors, share (of the row's trials that decide), n_own (the row's trials that decide),
        example (the accuracy printed for a true .90), printed, true (the common true accuracy that
        would give the printed accuracy; NaN if none does).
    """
    people = accuracy[accuracy["judge"] == PEOPLE]
    printed_values = dict(
        zip(people[list(by)].itertuples(index=False, name=None), people["accuracy"], strict=True)
    )
    selected = [
        row
        for rule, loaded in _counting_rules(run.study.exclusion)
        for row in _make_rows(run, rule, loaded, by, printed_values)
    ]
    columns = [*by, "rule", "n_trials", "most_errors", "share", "n_own", "example", "printed"]
    return pd.DataFrame(selected, columns=[*columns, "true"])


def _counting_rules(rules: Sequence[Rule]) -> Iterator[tuple[str, Selection]]:
    for rule in rules:
        try:
            yield from _list_error_counts(rule, load_rule(rule))
        except ParallaxError:
            # The run's own rule is not installed here, so its counted trials are unknown.
            continue


def _list_error_counts(rule: Rule, loaded: ExclusionRule) -> Iterator[tuple[str, Selection]]:
    if isinstance(loaded, Selection) and isinstance(loaded, CountsErrors):
        yield rule.rule, loaded
    # A participant kept by "any" is kept by each of its rules; other combinations give no bound.
    if rule.rule == "any":
        inner_rules = cast(tuple[Rule, ...], getattr(loaded, "rules", ()))
        yield from _counting_rules(inner_rules)


def _make_rows(
    run: ExportedRun,
    name: str,
    rule: Selection,
    by: Sequence[str],
    printed: Mapping[tuple[Any, ...], float],
) -> Iterator[dict[str, object]]:
    items_shown, numbers = _counted_items(run, rule)
    n_people = len(numbers)
    numbers = numbers[numbers > 0]
    if numbers.empty:
        return
    # In a sound design, every list shows the same number; otherwise use the most frequent one.
    n_trials = int(numbers.mode().iloc[0])
    most_errors = cast(CountsErrors, rule).most_errors(n_trials)
    if most_errors >= n_trials:
        return
    # A row counts only targets, if there are any.
    in_rows = (
        items_shown[items_shown["is_target"]] if items_shown["is_target"].any() else items_shown
    )
    for key, row_items in in_rows.groupby(list(by), observed=True, sort=False):
        n_own = float((row_items["n"] * row_items["counted"]).sum())
        share = n_own / float(row_items["n"].sum())
        if not share or key not in printed:
            continue
        yield {
            **dict(zip(by, key, strict=True)),
            "rule": name,
            "n_trials": n_trials,
            "most_errors": most_errors,
            "share": share,
            "n_own": round(n_own / n_people, 1),
            "example": printed_accuracy(_EXAMPLE_ACCURACY, n_trials, most_errors, share),
            "printed": float(printed[key]),
            "true": true_accuracy(float(printed[key]), n_trials, most_errors, share),
        }


def _counted_items(run: ExportedRun, rule: Selection) -> tuple[pd.DataFrame, pd.Series]:
    """Return the items that the rule counts, and the number of counted trials per participant.

    Returns:
        One row per item and kind shown to participants who finished, with n (their trials with the
        item) and counted; and one number per such participant.
    """
    people = run.participants
    finished = people.loc[people["state"] == State.FINISHED, "participant"]
    trials = run.trials.loc[
        run.trials["participant"].isin(finished), ["participant", "item_id", "kind"]
    ]
    # Number the trials by item and kind: the texts of ten million trials would take gigabytes.
    pair = trials.groupby(["item_id", "kind"], observed=True, sort=False).ngroup().to_numpy()
    first_trials = np.unique(pair, return_index=True)[1]
    kinds = trials.iloc[first_trials][["item_id", "kind"]].astype(str)
    kinds = kinds.assign(pair=pair[first_trials], n=np.bincount(pair)).iloc[
        np.argsort(first_trials)
    ]
    own_names = list_own_columns(run.items)
    items = run.items[["item_id", "construction", "condition", *own_names]]
    is_target = (run.items["kind"].astype(str) == Kind.TARGET).to_numpy()
    items_shown = kinds.merge(items.assign(is_target=is_target), on="item_id")
    items_shown["counted"] = [
        rule.selects(
            row["construction"],
            row["condition"],
            Kind(row["kind"]),
            [(header(name), str(row[name])) for name in own_names],
        )
        for row in items_shown.to_dict("records")
    ]
    weight = np.full(len(first_trials), np.nan)
    weight[items_shown["pair"]] = items_shown["counted"]
    of_trials = weight[pair]
    is_known = np.isfinite(of_trials)
    numbers = pd.Series(of_trials[is_known]).groupby(
        trials["participant"].array[is_known], observed=True
    )
    return items_shown, numbers.sum()


def add_selection_note(table: Table, selected: pd.DataFrame) -> Table:
    """Add a note to participants' accuracy in the rows found by ``selection``.

    Args:
        table: The table.
        selected: The result of ``selection`` by construction, or by construction and condition.
    """
    keys = [name for name in ("construction", "condition") if name in selected]
    notes: dict[object, list[str]] = {}
    for row in selected.to_dict("records"):
        notes.setdefault(tuple(row[key] for key in keys), []).append(_note(row))
    cells = list(table.frame[keys].itertuples(index=False, name=None))
    if not any(cell in notes for cell in cells):
        return table
    # A cell may already have a note.
    earlier_notes = table.frame.get("people_note", pd.Series("", table.frame.index)).fillna("")
    joined = [
        " ".join([*filter(None, [earlier]), *notes.get(cell, [])])
        for cell, earlier in zip(cells, earlier_notes, strict=True)
    ]
    return replace(table, frame=table.frame.assign(people_note=joined))


def _note(row: Mapping[Hashable, Any]) -> str:
    n, most_errors = cast(int, row["n_trials"]), cast(int, row["most_errors"])
    share, printed_share = cast(float, row["share"]), cast(float, row["printed"])
    true = cast(float | None, row["true"])
    subject = "The trials" if share == 1 else f"{share:.0%} of the trials"
    of_n = "" if row["n_own"] == n else f", {row['n_own']:g} of them here"
    origin = (
        f"; the printed {printed_share:.3f} would result from {true:.3f}, an increase of "
        f"{printed_share - true:+z.3f}"
        if true is not None and not pd.isna(true)
        else ""
    )
    return (
        f"{subject} of this row also decide which participants are kept (at most {most_errors} "
        f"{'error' if most_errors == 1 else 'errors'} on {n} trials{of_n}), which raises people's "
        f"accuracy: if everyone's true accuracy were {_EXAMPLE_ACCURACY:.2f}, the table would show "
        f"{cast(float, row['example']):.3f}{origin}."
    )
