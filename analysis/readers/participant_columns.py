"""Find the column that names participants, by what its values judged."""

import re

import pandas as pd

# What platforms call people: hexadecimal numbers, or Mechanical Turk's ids.
_PERSON_ID = re.compile(r"(?=.*\d)(?:[\da-fA-F_-]{16,}|A[\dA-Z]{9,})")
_FEWEST_PEOPLE = 3
_MOST_REPEATED_SHARE = 0.05


def find_participant_column(table: pd.DataFrame, presented: pd.DataFrame) -> str | None:
    """Return the one column that may name participants: each judged several items, once each.

    Other columns, such as age, may fit too. The column that determines all other fitting columns is
    chosen. Numbers may also count trials: they name participants only where each number's rows
    follow one another.

    Args:
        table: The columns without another role, one row per judgment.
        presented: The columns that identify what was judged in each row.
    """
    fitting = [
        column
        for column in _columns_judging_once(table, presented)
        if not _may_count_trials(table[column])
    ]
    finest = [
        candidate
        for candidate in fitting
        if all(
            (table.groupby(candidate)[other_column].nunique() == 1).all()
            for other_column in fitting
        )
    ]
    return next(iter(finest), None)


def _columns_judging_once(table: pd.DataFrame, presented: pd.DataFrame) -> list[str]:
    """Return the columns whose values judged several things, and nothing twice."""
    # Use numbers: joining millions of texts would take gigabytes.
    judged_codes = {str(n): pd.factorize(presented[name])[0] for n, name in enumerate(presented)}
    fitting = []
    for column in table.columns:
        values = table[column]
        sizes = values.value_counts()
        several = len(sizes) > 1 and float(sizes.median()) > 1
        if (values == "").any() or not several:
            continue
        if not pd.DataFrame({"by": pd.factorize(values)[0], **judged_codes}).duplicated().any():
            fitting.append(column)
    return fitting


def _may_count_trials(values: "pd.Series[str]") -> bool:
    """Return whether values are numbers whose rows are apart, as the numbers of trials are."""
    n_runs = int((values != values.shift()).sum())
    return bool(values.str.isdecimal().all()) and n_runs > values.nunique()


def find_possible_participants(table: pd.DataFrame, presented: pd.DataFrame) -> str | None:
    """Return a column that looks like participants, where none surely names them.

    Its values are ids of people, or judged most items; or several columns fit equally well.

    Args:
        table: The columns without another role, one row per judgment.
        presented: The columns that identify what was judged in each row, the item's first.
    """
    ids = [str(name) for name in table if table[name].str.fullmatch(_PERSON_ID).all()]
    most = [str(name) for name in table if _judged_most(table[name], presented)]
    return next(iter([*ids, *most, *_columns_judging_once(table, presented)]), None)


def _judged_most(values: "pd.Series[str]", presented: pd.DataFrame) -> bool:
    """Return whether each value of a column judged over half of the items, and few twice."""
    rows = presented[values != ""].assign(_by=values[values != ""])
    item = presented.columns[0]
    judged = rows.groupby("_by")[item].nunique()
    return (
        len(judged) >= _FEWEST_PEOPLE
        and float(judged.median()) > max(1.0, presented[item].nunique() / 2)
        and float(rows.duplicated().mean()) < _MOST_REPEATED_SHARE
    )


def find_session_column(table: pd.DataFrame) -> str | None:
    """Return a column whose values are unique, from a table with one session per row.

    The result is None if a column is unique in most, but not all rows: a participant may have taken
    part twice.
    """
    numbers = {
        column: table[column].nunique() / len(table)
        for column in table.columns
        if len(table) > 1 and not any(letter.isdigit() for letter in str(column))
    }
    distinct_columns = [
        header for header, share in numbers.items() if share == 1 and (table[header] != "").all()
    ]
    nearly_distinct = [header for header, share in numbers.items() if 1 / 2 < share < 1]
    return distinct_columns[0] if distinct_columns and not nearly_distinct else None
