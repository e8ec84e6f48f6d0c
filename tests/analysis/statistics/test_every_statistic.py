"""Every statistic has one shape: tables in, one table out; what is resampled takes rng and count.

Functions whose first argument is no table are building blocks over arrays, and are left out.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Mapping
from typing import get_origin

import numpy as np
import pandas as pd
import pytest

from analysis import statistics

# A fitted model is an object, which holds its tables: docs/decisions/fitted-model.md says why.
MODELS = {"fit", "fit_item_map", "fit_two_parameters"}
# What the mixed model and the ratings are made of: a mask, terms, effects, one number an item; and
# what is said below a table, and the estimate of one comparison.
PARTS = {
    "bounded_rows", "row_effects", "default_terms", "item_differences", "withheld_notes",
    "sensitivity_contrast", "find_drawn", "find_weights", "has_both_answers",
}  # fmt: skip
# It draws which pairs of participants it looks at, and resamples nothing.
DRAWS_PAIRS = {"error_consistency"}
# It draws studies, each by its own number, so that processes may share them out.
DRAWS_STUDIES = {"simulate_scale"}


def statistics_functions():
    for module in pkgutil.iter_modules(statistics.__path__):
        loaded = importlib.import_module(f"analysis.statistics.{module.name}")
        for name, function in inspect.getmembers(loaded, inspect.isfunction):
            own = function.__module__ == loaded.__name__ and not name.startswith("_")
            if own and name not in MODELS | PARTS and takes_tables(function):
                yield function


def takes_tables(function):
    parameters = list(inspect.signature(function).parameters.values())
    return bool(parameters) and is_table(parameters[0].annotation)


def is_table(hint):
    of_models = get_origin(hint) is Mapping and hint.__args__[1] is pd.DataFrame
    return hint is pd.DataFrame or of_models


FUNCTIONS = list(statistics_functions())


def test_the_statistics_are_found():
    names = {function.__name__ for function in FUNCTIONS}
    assert {"people_accuracy", "attraction", "calibration", "split_half", "learning"} <= names
    assert len(FUNCTIONS) > 20


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__qualname__)
def test_a_statistic_returns_one_table(function):
    assert inspect.signature(function).return_annotation is pd.DataFrame


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__qualname__)
def test_a_statistic_that_resamples_is_given_its_randomness_and_how_often(function):
    parameters = inspect.signature(function).parameters
    names = list(parameters)
    drawn = [name for name in names if parameters[name].annotation is np.random.Generator]
    assert drawn in ([], ["rng"])
    if drawn and function.__name__ not in DRAWS_PAIRS:
        assert names[names.index("rng") + 1] == "resamples"
    assert "seed" not in names or function.__name__ in DRAWS_STUDIES
