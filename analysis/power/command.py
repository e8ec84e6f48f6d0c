"""``parallax power``: how many participants a study needs."""

from math import exp
from pathlib import Path
from typing import Any

import click
import pandas as pd
from tqdm import tqdm

from analysis.data.takers import item_choices
from analysis.errors import AnalysisError
from analysis.power.figure import power_figure
from analysis.power.reading import power_of_reading
from analysis.power.scales import (
    AROUND_MIN,
    NAME,
    ScaleOptions,
    power_of_scales,
    write_power,
)
from analysis.power.simulated_choices import (
    OVERALL,
    Assumptions,
    Design,
    Expected,
    design_of,
    like_items,
    needed,
    simulate,
    summary,
)
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.render import to_text
from experiment.design.lists import build_lists
from experiment.errors import ParallaxError
from experiment.materials.read import load_items
from experiment.responses.base import Gives
from experiment.responses.registry import response_class, response_of
from experiment.simulation.population import RT_SPREAD, accuracy_of
from experiment.studies.load import load_study
from experiment.studies.published import read_published
from experiment.studies.study import Study
from experiment.version import code_version

_SIZES = "5,10,15,20,30"
# Where the study names no typical reaction time.
_TYPICAL_RT_MS = 3500.0
_SHARE = click.FloatRange(0, 1)
_DIFFERENCE = 0.05


class Sizes(click.ParamType[tuple[int, ...]]):
    """Whole numbers from 2, separated by commas, in rising order once read."""

    name = "N,N,..."

    def convert(
        self, value: str | tuple[int, ...], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Return the numbers."""
        if isinstance(value, tuple):
            return value
        try:
            sizes = tuple(sorted({int(one) for one in value.split(",")}))
        except ValueError:
            self.fail(f'"{value}" is not a list of whole numbers such as {_SIZES}', param, ctx)
        if sizes[0] < 1:
            self.fail(f"{sizes[0]} participants per list are too few", param, ctx)
        return sizes


@click.command()
@click.argument("study")
@click.option(
    "--out", type=click.Path(path_type=Path), help="A folder to write the table and the figure to."
)
@click.option("--per-list", "sizes", type=Sizes(), default=_SIZES, show_default=True,
              help="The numbers of participants per list to try.")  # fmt: skip
@click.option("--simulations", default=100, show_default=True, type=click.IntRange(min=2),
              help="How many studies to simulate.")  # fmt: skip
@click.option("--difference", type=click.FloatRange(min=0, min_open=True),
              help=("The difference to detect.  [default: .05 in accuracy, .5 points of a rating, "
                    ".1 in the share of yes]"))  # fmt: skip
@click.option("--width", type=click.FloatRange(min=0, min_open=True),
              help="The wanted half-width of the intervals.  [default: --difference]")  # fmt: skip
@click.option("--sd-participants", default=0.5, show_default=True, help="In logits.")
@click.option("--sd-items", default=0.5, show_default=True, help="In logits; of ratings, frames.")
@click.option("--sd-effects", default=0.2, show_default=True,
              help=("Of ratings and of --means: how much participants, and frames, differ in each "
                    "condition besides, in logits."))  # fmt: skip
@click.option("--means", type=click.Path(path_type=Path),
              help=("Of ratings and yes/no: a table with the expected mean (of yes, the share) of "
                    "each condition."))  # fmt: skip
@click.option("--scale",
              help=("Of several scales this one, in points of its own.  [default: each in "
                    "turn]"))  # fmt: skip
@click.option("--lapse", default=0.02, show_default=True, type=_SHARE,
              help="Lapse rate: the share of trials answered at random.")  # fmt: skip
@click.option("--guessing", default=0.1, show_default=True, type=_SHARE,
              help="Share of participants who answer every trial at random.")  # fmt: skip
@click.option("--accuracy", type=_SHARE,
              help=("The expected accuracy of every construction.  [default: the published "
                  "ones]"))  # fmt: skip
@click.option("--like", "folder", type=click.Path(path_type=Path),
              help=("A reading's folder of `parallax take`: each item is as hard for people as for "
                    "this model."))  # fmt: skip
@click.option("--slowdown", "slowdown_percent", type=click.FloatRange(min=0, min_open=True),
              help=("Of what is read: the difference of times to detect, in per cent.  "
                    "[default: 5]"))  # fmt: skip
@click.option("--log-sds", default="",
              help=("Of what is read: five standard deviations of log times.  [default: "
                    "those of Witzel et al., 2012]"))  # fmt: skip
@click.option("--reward", type=click.FloatRange(min=0), help="What each participant is paid.")
@click.option("--fee-percent", default=0.0, show_default=True, help="The platform's fee, on top.")
@click.option("--seed", default=1, show_default=True, help="The seed of every draw.")
def power(
    study: str,
    out: Path | None,
    sizes: tuple[int, ...],
    simulations: int,
    difference: float | None,
    width: float | None,
    sd_participants: float,
    sd_items: float,
    sd_effects: float,
    means: Path | None,
    scale: str | None,
    lapse: float,
    guessing: float,
    accuracy: float | None,
    folder: Path | None,
    reward: float | None,
    fee_percent: float,
    seed: int,
    **of_reading: Any,  # noqa: ANN401 (click types them by the options above)
) -> None:
    """Simulate STUDY to find how many participants it needs.

    It also tells what they cost and how long the study takes.

    Power is the share of simulated studies whose 95% interval excludes a value that lies
    --difference below people's true accuracy; of ratings, and of yes/no with --means, below the
    true value of each difference and interaction that the design plans. Of a study that is read
    step by step, it is the share that tells a --slowdown of one region from none.
    """
    loaded = load_study(study)
    people = Assumptions(sd_participants, sd_items, lapse, guessing)
    built = build_lists(loaded, load_items(loaded), seed)
    if _is_of_times(loaded, of_reading["slowdown_percent"], means):
        power_of_reading(loaded, built.lists, sizes, simulations, out, seed, **of_reading)
        return
    each = None if reward is None else reward * (1 + fee_percent / 100)
    if means is not None or Gives.RIGHT not in response_class(loaded.response).gives:
        _refuse_of_choices(accuracy, folder)
        power_of_scales(
            loaded, built, ScaleOptions(people, sd_effects, means, sizes, simulations, difference,
                                        width, each, _minutes(loaded), seed), out, scale
        )  # fmt: skip
        return
    difference, width = difference or _DIFFERENCE, width or _DIFFERENCE
    design = design_of(built.lists)
    expected = _expected(loaded, design, accuracy, folder, people)
    numbers = tqdm(range(simulations), desc="Simulating", unit=" studies", disable=None)
    found = summary(
        simulate(
            design, expected, people, loaded.exclusion, sizes, numbers,
            difference=difference, seed=seed,
        )
    )  # fmt: skip
    model = f"items as hard as for the model in {folder}" if folder else ""
    table = _table(loaded, found, people, each, difference, simulations, seed, model)
    click.echo(to_text(table))
    click.echo("\n".join(_answers(found, len(design.lists), difference, width)))
    if out:
        write_power(out, table, power_figure(found, difference=difference, wanted_width=width))


def _refuse_of_choices(accuracy: float | None, folder: Path | None) -> None:
    if accuracy is not None or folder is not None:
        raise click.UsageError("--accuracy and --like say how often choices are right; of the "
                               "points of a scale, --means says what is expected.")  # fmt: skip


def _is_of_times(study: Study, slowdown: float | None, means: Path | None) -> bool:
    """Return whether times are planned for: also those before a rating, where they are asked for.

    Raises:
        AnalysisError: The sessions have several tasks.
        click.UsageError: A slowdown is asked for where nothing is read.
    """
    response = response_of(study)
    if response.types:
        raise AnalysisError(
            "the sessions have several tasks, and power is of one",
            where=str(study.folder),
            expected="a study of one type of response",
            remedy="Copy the folder for each task, with its items and its response alone",
        )
    if response.step_table is None and slowdown is not None:
        raise click.UsageError(
            "--slowdown is of what is read step by step; this study has no times."
        )
    is_right = Gives.RIGHT in response.gives
    return bool(response.step_table) and means is None and (is_right or slowdown is not None)


def _expected(
    study: Study, design: Design, given: float | None, folder: Path | None, people: Assumptions
) -> Expected:
    if folder is None:
        return Expected([_accuracy(study, name, given) for name in design.constructions])
    if given is not None:
        raise click.UsageError("Give either --like or --accuracy: each says how hard items are.")
    median_ms = study.simulation.median_rt_ms or _TYPICAL_RT_MS
    return like_items(design, item_choices(folder), people, median_ms)


def _accuracy(study: Study, construction: str, given: float | None) -> float:
    if given is not None:
        return given
    try:
        return accuracy_of(read_published(study))(construction, "")
    except ParallaxError as error:
        error.remedy = "Give one for all constructions with --accuracy"
        raise


def _table(
    study: Study,
    found: pd.DataFrame,
    people: Assumptions,
    each: float | None,
    difference: float,
    simulations: int,
    seed: int,
    model: str,
) -> Table:
    overall = found[found["construction"] == OVERALL]
    single = found[found["construction"] != OVERALL].groupby("per_list")
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
    columns = [
        Column("label", "per list", "text"),
        Column("participants", "recruited", "count"),
        Column("kept", "kept", "count"),
        Column("half_width", "all", "number", spanner="Half the 95% interval"),
        Column("widest", "widest construction", "number", spanner="Half the 95% interval"),
        Column("power", "all", "number", spanner="Power"),
        Column("weakest", "weakest construction", "number", spanner="Power"),
    ]
    if each is not None:
        frame["cost"] = frame["participants"] * each
        columns.append(Column("cost", "cost", "number"))
    minutes = _minutes(study)
    return Table(
        name=NAME,
        title="Power",
        caption=f"What {study.name} would find, over {simulations} simulated studies.",
        frame=frame,
        columns=tuple(columns),
        notes=(
            f"Power: to distinguish people's accuracy from a value {difference:g} below it.",
            f"A session takes about {minutes:.0f} minutes, of which {AROUND_MIN:.0f} for "
            "consent, instructions and questionnaire.",
        ),
        origin=(
            f"Logistic model with sd {people.sd_participants:g} between participants and "
            + (model or f"{people.sd_items:g} between items")
            + f" (logits), lapse rate {people.lapse:g}, "
            f"{people.guessing:.0%} of participants guessing; the study's exclusion rules.",
            f"Study {study.name}, version {study.study.version}; seed {seed}; "
            f"code {code_version()}.",
        ),
    )


def _minutes(study: Study) -> float:
    """Return a session's expected length; reaction times are log-normal, so above the median."""
    median_ms = study.simulation.median_rt_ms or _TYPICAL_RT_MS
    mean_ms = median_ms * exp(RT_SPREAD**2 / 2)
    return study.design.trials_per_list * mean_ms / 60_000 + AROUND_MIN


def _answers(found: pd.DataFrame, lists: int, difference: float, width: float) -> list[str]:
    narrow = needed(found, lambda rows: rows["half_width"] <= width)
    strong = needed(found, lambda rows: rows["power"] >= 0.8)
    return [
        _answer(f"an interval of at most +/- {width:g}", narrow, lists),
        _answer(f"a power of .80 to detect a difference of {difference:g}", strong, lists),
    ]


def _answer(goal: str, enough: pd.DataFrame, lists: int) -> str:
    is_overall = enough["construction"] == OVERALL
    [overall] = enough.loc[is_overall, "per_list"]
    largest = enough.loc[~is_overall, "per_list"].max(skipna=False)
    parts = [
        "more than were tried"
        if pd.isna(size)
        else f"{size * lists} participants ({size} per list)"
        for size in (overall, largest)
    ]
    return f"For {goal}: {parts[0]} over all judgments, {parts[1]} in every construction."
