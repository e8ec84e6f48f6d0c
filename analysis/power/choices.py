"""Power of choices: the number of participants to distinguish an accuracy from a lower one."""

from collections.abc import Iterator, Sequence

import click
import pandas as pd
from tqdm import tqdm

from analysis.power.base import (
    ENOUGH_POWER,
    SIZE_COLUMNS,
    Outcome,
    PowerOptions,
    median_rt_ms,
    power_figure,
    power_table,
    session_note,
    sizes_needed,
    study_origin,
    summarise,
)
from analysis.power.norms import TYPED, ClozeSpread
from analysis.power.simulated_choices import (
    OVERALL,
    Design,
    Expected,
    design_of,
    expect_from_items,
    simulate,
)
from analysis.tables.accuracy_table import Column, Table
from experiment.design.lists import BuiltLists
from experiment.errors import ParallaxError
from experiment.records import Kind, ListEntry
from experiment.responses.registry import response_of
from experiment.responses.responders import accuracy_of
from experiment.studies.published import read_published
from experiment.studies.study import Study

_DIFFERENCE = 0.05
# The share of right answers to typed catch trials.
_OF_TYPED_CATCH = 0.95


def power_of_choices(study: Study, built: BuiltLists, options: PowerOptions) -> Iterator[Outcome]:
    """Yield the power for participants' accuracy, overall and for each construction.

    Raises:
        click.UsageError: Both --like and --accuracy are given.
        ParallaxError: Neither an option nor published accuracies define how hard items are.
    """
    difference, width = options.difference or _DIFFERENCE, options.width or _DIFFERENCE
    design = design_of(built.lists)
    expected = _expect_choices(study, design, options)
    numbers = tqdm(range(options.simulations), desc="Simulating", unit=" studies", disable=None)
    power = summarise(
        simulate(
            design, expected, options.people, study.exclusion, options.sizes, numbers,
            difference=difference, seed=options.seed,
        )
    )  # fmt: skip
    figure = power_figure(
        power, label=f"power to detect a difference of {difference:g}", wanted_width=width
    )
    sentences = _write_sentences(power, len(design.lists), difference, width)
    yield Outcome(_make_table(study, power, options, difference), sentences, figure)


def _expect_choices(study: Study, design: Design, options: PowerOptions) -> Expected:
    if options.like is None:
        return Expected(list(expected_accuracies(study, design.lists, options).values()))
    if options.accuracy is not None:
        raise click.UsageError("Give either --like or --accuracy: both define how hard items are.")
    # An installation may lack model participants.
    from analysis.takers.answers import read_item_choices

    median_ms = median_rt_ms(study)
    return expect_from_items(design, read_item_choices(options.like), options.people, median_ms)


def expected_accuracies(
    study: Study, lists: Sequence[Sequence[ListEntry]], options: PowerOptions
) -> dict[str, float]:
    """Return the accuracy expected of each construction.

    Raises:
        ParallaxError: Neither an option nor published accuracies define how hard items are.
    """
    names = design_of(lists).constructions
    if response_of(study).name != TYPED:
        return {name: _expected_accuracy(study, name, options.accuracy) for name in names}
    # An accepted word is one of several that fit, unlike the answer to a catch trial.
    of_targets = options.accuracy
    if of_targets is None:
        of_targets = ClozeSpread.parse(options.cloze).mean
    targets = {e.item.construction for of_list in lists for e in of_list if e.kind is Kind.TARGET}
    return {name: of_targets if name in targets else _OF_TYPED_CATCH for name in names}


def _expected_accuracy(study: Study, construction: str, accuracy: float | None) -> float:
    if accuracy is not None:
        return accuracy
    try:
        return accuracy_of(read_published(study))(construction, "")
    except ParallaxError as error:
        raise type(error)(
            error.problem,
            where=error.where,
            expected="the accuracy that you expect",
            remedy="Give it with --accuracy, or for each condition with --means",
        ) from error


def _make_table(
    study: Study, power: pd.DataFrame, options: PowerOptions, difference: float
) -> Table:
    overall = power[power["construction"] == OVERALL]
    single = power[power["construction"] != OVERALL].groupby("per_list")
    frame = pd.DataFrame(
        {
            "group": "",
            "label": overall["per_list"].astype(str),
            "participants": overall["per_list"] * study.design.n_lists,
            "kept": overall["kept"].round(),
            "half_width": overall["half_width"],
            "widest": overall["per_list"].map(single["half_width"].max()),
            "power": overall["power"],
            "weakest": overall["per_list"].map(single["power"].min()),
        }
    ).reset_index(drop=True)
    people = options.people
    items = f"{people.sd_items:g} between items"
    if options.like is not None:
        items = f"items as hard as for the model in {options.like}"
    return power_table(
        study,
        options,
        frame,
        (
            *SIZE_COLUMNS,
            Column("half_width", "all", "number", spanner="Half the 95% interval"),
            Column("widest", "widest construction", "number", spanner="Half the 95% interval"),
            Column("power", "all", "number", spanner="Power"),
            Column("weakest", "weakest construction", "number", spanner="Power"),
        ),
        notes=(
            f"Power: to distinguish people's accuracy from a value {difference:g} below it.",
            session_note(study),
        ),
        origin=(
            f"Logistic model with sd {people.sd_participants:g} between participants and "
            f"{items} (logits), lapse rate {people.lapse:g}, "
            f"{people.guessing:.0%} of participants guessing; the study's exclusion rules.",
            study_origin(study, options.seed),
        ),
    )


def _write_sentences(power: pd.DataFrame, lists: int, difference: float, width: float) -> list[str]:
    narrow = sizes_needed(power, lambda rows: rows["half_width"] <= width)
    strong = sizes_needed(power, lambda rows: rows["power"] >= ENOUGH_POWER)
    return [
        _write_sentence(f"an interval of at most +/- {width:g}", narrow, lists),
        _write_sentence(f"a power of .80 to detect a difference of {difference:g}", strong, lists),
    ]


def _write_sentence(goal: str, enough: pd.DataFrame, lists: int) -> str:
    is_overall = enough["construction"] == OVERALL
    [overall] = enough.loc[is_overall, "per_list"]
    largest = enough.loc[~is_overall, "per_list"].max(skipna=False)
    parts = [
        "more than were simulated"
        if pd.isna(size)
        else f"{size * lists} participants ({size} per list)"
        for size in (overall, largest)
    ]
    return f"For {goal}: {parts[0]} over all judgments, {parts[1]} in every construction."
