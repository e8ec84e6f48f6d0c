"""``parallax power``: estimate how many participants a study needs."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from statistics import fmean

import click
import pandas as pd
from scipy.stats import norm

from analysis.figures.drawing import FORMATS as FIGURE_FORMATS
from analysis.figures.drawing import save_figure
from analysis.power.base import ENOUGH_POWER, NAME, STOPPING, Outcome, PowerOptions
from analysis.power.cells import ACCURACY
from analysis.power.choices import power_of_choices
from analysis.power.comparisons import people_minus_model, power_of_comparisons
from analysis.power.languages import LANGUAGES
from analysis.power.norms import DEFAULT_CLOZE, NORM, plan_norm
from analysis.power.planned_tests import primary_comparisons
from analysis.power.simulated_choices import Assumptions
from analysis.tables.render import FORMATS as TABLE_FORMATS
from analysis.tables.render import save_table, to_text
from experiment.comparisons.contrast import Contrast
from experiment.design.lists import BuiltLists, build_lists
from experiment.design.separating import are_choices
from experiment.materials.read import load_items
from experiment.responses.base import Gives
from experiment.responses.registry import response_of
from experiment.studies.load import load_study
from experiment.studies.study import Study
from experiment.tables.atomic_write import atomic_folder

_SIZES = "5,10,15,20,30"
_SHARE = click.FloatRange(0, 1)
_SUFFIXES = (*TABLE_FORMATS, *(f".{suffix}" for suffix in FIGURE_FORMATS))
_OUTPUT_FILES = frozenset(
    f"{name}{suffix}" for name in (NAME, NORM, STOPPING, LANGUAGES) for suffix in _SUFFIXES
)


class Sizes(click.ParamType[tuple[int, ...]]):
    """Integers from 2, separated by commas; sorted when parsed."""

    name = "N,N,..."

    def convert(
        self, value: str | tuple[int, ...], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Return the numbers."""
        if isinstance(value, tuple):
            return value
        try:
            sizes = tuple(sorted({int(size) for size in value.split(",")}))
        except ValueError:
            self.fail(f'"{value}" is not a list of whole numbers such as {_SIZES}', param, ctx)
        if sizes[0] < 1:
            self.fail(f"{sizes[0]} participants per list are too few", param, ctx)
        return sizes


@click.command()
@click.argument("name_or_folder", metavar="STUDY")
@click.option(
    "--out", type=click.Path(path_type=Path), help="A folder to write the table and the figure to."
)
@click.option("--per-list", "sizes", type=Sizes(), default=_SIZES, show_default=True,
              help="The numbers of participants per list to try.")  # fmt: skip
@click.option("--simulations", default=100, show_default=True, type=click.IntRange(min=2),
              help="How many studies to simulate.")  # fmt: skip
@click.option("--difference", type=click.FloatRange(min=0, min_open=True),
              help=("The effect to detect.  [default: the comparison's smallest_effect, or .05 in "
                    "accuracy, .5 points of a rating (5 of a slider), .1 in the share of "
                    "yes, 2 entries of a list]"))  # fmt: skip
@click.option("--width", type=click.FloatRange(min=0, min_open=True),
              help="The target half-width of the intervals.  [default: --difference]")  # fmt: skip
@click.option(
    "--sd-participants",
    default=0.5,
    show_default=True,
    help="The standard deviation of participants, in logits.",
)
@click.option(
    "--sd-items",
    default=0.5,
    show_default=True,
    help="The standard deviation of items (or frames, if items have them), in logits.",
)
@click.option("--sd-effects", default=0.2, show_default=True,
              help=("For comparisons of conditions: how much participants, and frames, differ "
                    "further in each condition, in logits."))  # fmt: skip
@click.option("--means", type=click.Path(path_type=Path),
              help=("A table with the expected mean (the accuracy, the share of yes, the number "
                    "of entries) of each condition."))  # fmt: skip
@click.option("--scale",
              help="Plan only this one of several scales.  [default: each in turn]")  # fmt: skip
@click.option("--lapse", default=0.02, show_default=True, type=_SHARE,
              help="Lapse rate: the share of trials answered at random.")  # fmt: skip
@click.option("--guessing", default=0.1, show_default=True, type=_SHARE,
              help="Share of participants who answer every trial at random.")  # fmt: skip
@click.option("--accuracy", type=_SHARE,
              help=("The expected accuracy of every construction.  [default: the published "
                  "ones]"))  # fmt: skip
@click.option("--like", type=click.Path(path_type=Path),
              help=("A folder that `parallax take` wrote: each item is as hard for people as for "
                    "this model."))  # fmt: skip
@click.option("--slowdown", "slowdown_percent", type=click.FloatRange(min=0, min_open=True),
              help=("For reading times: the difference to detect, in per cent.  "
                    "[default: 5]"))  # fmt: skip
@click.option("--log-sds", default="",
              help=("For reading times and lists: five standard deviations of log times, or of log "
                    "numbers of entries.  [default of times: Witzel et al., 2012]"))  # fmt: skip
@click.option("--cloze", default="",
              help=("For typed answers: mean and standard deviation over texts of a word's cloze "
                    f"probability.  [default: {DEFAULT_CLOZE}]"))  # fmt: skip
@click.option("--languages", default=1, show_default=True, type=click.IntRange(min=1),
              help=("In how many languages, or at how many sites, the study runs: also plan the "
                    "mean effect that `parallax pool` estimates."))  # fmt: skip
@click.option("--sd-languages", default=0.5, show_default=True, type=click.FloatRange(min=0),
              help=("For --languages: the standard deviation of the effect between languages, as a "
                    "share of the effect."))  # fmt: skip
@click.option("--reward", type=click.FloatRange(min=0), help="What each participant is paid.")
@click.option(
    "--fee-percent", default=0.0, show_default=True, help="The platform's fee, added to the reward."
)
@click.option("--seed", default=1, show_default=True, help="The seed of every draw.")
def power(
    name_or_folder: str,
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
    like: Path | None,
    slowdown_percent: float | None,
    log_sds: str,
    cloze: str,
    languages: int,
    sd_languages: float,
    reward: float | None,
    fee_percent: float,
    seed: int,
) -> None:
    """Simulate STUDY to find how many participants it needs.

    It also reports what they cost and how long a session takes.

    Power is the share of simulated studies that show the expected effect of each primary
    comparison of the study, by the report's statistics and with its correction. The effect is that
    of --means; else --difference (for reading times --slowdown); else the smallest_effect of the
    comparison. For choices without conditions, it is also the share whose 95% interval excludes a
    value that lies --difference below people's accuracy.
    """
    study = load_study(name_or_folder)
    options = PowerOptions(
        people=Assumptions(sd_participants, sd_items, lapse, guessing),
        sizes=sizes, simulations=simulations, seed=seed, difference=difference, width=width,
        sd_effects=sd_effects, means=means, scale=scale, accuracy=accuracy, like=like,
        slowdown_percent=slowdown_percent, log_sds=log_sds, cloze=cloze,
        languages=languages, sd_languages=sd_languages,
        cost=None if reward is None else reward * (1 + fee_percent / 100),
    )  # fmt: skip
    built = build_lists(study, load_items(study), seed)
    norm = plan_norm(study, built, options)
    outcomes = []
    for outcome in _compute_power(study, built, options, norm):
        if study.stopping and not outcome.scale:
            # An installation may lack stopping rules.
            from analysis.power.sequential import add_stopping

            outcome = add_stopping(study, built, options, outcome)
        sentences = (*outcome.sentences, *describe_separating(study, built, options))
        _print_outcome(replace(outcome, sentences=sentences), out, of_several=scale is None)
        outcomes.append(outcome)
    if study.stopping and outcomes[0].scale:
        _print_stopping_on_scales(study, built, options, outcomes, out)


def _print_stopping_on_scales(
    study: Study,
    built: BuiltLists,
    options: PowerOptions,
    outcomes: Sequence[Outcome],
    out: Path | None,
) -> None:
    """Print what the stopping rule does, which waits for the comparisons on every scale."""
    from analysis.power.sequential import power_of_stopping

    if options.scale is not None:
        click.echo("The stopping rule waits for every scale: to simulate it, omit --scale.")
        return
    fixed = pd.concat(
        outcome.table.frame.assign(
            construction=outcome.table.frame["construction"] + f" ({outcome.scale})"
        )
        for outcome in outcomes
    )
    click.echo("All scales together:\n")
    stopped = power_of_stopping(study, built, options, fixed)
    _print_outcome(stopped, out / STOPPING if out else None, of_several=False)


def _compute_power(
    study: Study, built: BuiltLists, options: PowerOptions, norm: Outcome | None
) -> Iterator[Outcome]:
    """Yield the power of the study's primary comparisons, or of people's accuracy alone.

    Accuracy is planned where no conditions are compared, or with --like or --accuracy where the
    comparisons are of other measures. Typed answers have the people that a norm needs as well, and
    only these if no conditions are compared.

    Raises:
        AnalysisError: No primary comparison can be planned.
        click.UsageError: An option does not fit the study.
    """
    if norm is None:
        yield from _compute_power_of_answers(study, built, options)
        return
    asked = options.like is not None or options.accuracy is not None
    planned = primary_comparisons(study, built, options)
    if not asked and not any(isinstance(one.compared, Contrast) for one in planned):
        yield norm
        return
    for outcome in _compute_power_of_answers(study, built, options):
        further, sentences = (*outcome.further, norm.table), (*outcome.sentences, *norm.sentences)
        yield replace(outcome, further=further, sentences=sentences)


def _compute_power_of_answers(
    study: Study, built: BuiltLists, options: PowerOptions
) -> Iterator[Outcome]:
    response = response_of(study)
    if response.step_table is None and options.slowdown_percent is not None:
        raise click.UsageError(
            "--slowdown is for studies that are read step by step; this one has no reading times."
        )
    if response.types:
        if options.means is not None:
            raise click.UsageError(
                "--means holds the means of one task, and the sessions have several. Give the "
                "expected effects: --difference, and --slowdown for reading times."
            )
        yield from power_of_comparisons(study, built, options)
        return
    planned = primary_comparisons(study, built, options)
    contrast_measures = {
        comparison.measure for comparison in planned if isinstance(comparison.compared, Contrast)
    }
    asks_accuracy = options.like is not None or options.accuracy is not None
    if contrast_measures and not (
        options.like or (asks_accuracy and ACCURACY not in contrast_measures)
    ):
        yield from power_of_comparisons(study, built, options)
        return
    if Gives.RIGHT not in response.gives or (response.step_table and not asks_accuracy):
        if asks_accuracy:
            raise click.UsageError("--accuracy and --like define how often choices are right; for "
                                   "the points of a scale, give the expected --means.")  # fmt: skip
        yield from power_of_comparisons(study, built, options)
        return
    if options.languages > 1:
        raise click.UsageError(
            "--languages plans the mean of a comparison over languages, and this study has no "
            "primary comparison of conditions to plan."
        )
    for outcome in power_of_choices(study, built, options):
        further: tuple[str, ...] = ()
        if planned and not contrast_measures and options.like is None:
            further = tuple(people_minus_model(study, built, options))
        yield replace(outcome, sentences=(*outcome.sentences, *further))


def _print_outcome(outcome: Outcome, out: Path | None, *, of_several: bool) -> None:
    """Print an outcome and write it to a folder; one of several scales gets its own subfolder."""
    if outcome.scale:
        click.echo(f"Scale {outcome.scale}, planned by itself:\n")
    for table in (outcome.table, *outcome.further):
        click.echo(to_text(table))
    for sentence in outcome.sentences:
        click.echo(sentence)
    if out is not None:
        _write_outcome(outcome, out / outcome.scale if of_several else out)
    if outcome.scale:
        click.echo("")
    if outcome.closing:
        click.echo(outcome.closing)


def _write_outcome(outcome: Outcome, out: Path) -> None:
    with atomic_folder(out, _OUTPUT_FILES) as folder:
        for table in (outcome.table, *outcome.further):
            save_table(table, folder)
        if outcome.figure is not None:
            save_figure(outcome.figure, folder, NAME)
    click.echo(f"{'Table' if outcome.figure is None else 'Table and figure'}: {out}")


# How much more often people agree with the nearer model, where the models differ.
_USUAL_DIFFERENCE = 0.1
_LEVEL = 0.95


def describe_separating(study: Study, built: BuiltLists, options: PowerOptions) -> Iterator[str]:
    """Yield the participants that find the nearer model; nothing if frames were drawn alike.

    Answers count as independent, and those on which models agree tell nothing.
    """
    items = (entry.item for entries in built.lists for entry in entries)
    if not built.inclusion or not are_choices(study, items):
        return
    shown, at_random = count_differing_trials(built)
    difference = options.difference or _USUAL_DIFFERENCE
    z = norm.ppf((1 + _LEVEL) / 2) + norm.ppf(ENOUGH_POWER)
    answers = z**2 * (1 - difference**2) / difference**2
    n_shown, n_random = (
        f"{ceil(answers / trials):,} participants" if trials else "no number of participants"
        for trials in (shown, at_random)
    )
    yield (
        f"Items that separate models: on average {shown:.1f} trials of a session are ones on which "
        f"two of the models differ ({at_random:.1f} if frames were drawn at random). If people "
        f"choose there what one of them chooses in {(1 + difference) / 2:.1%} of independent "
        f"answers, {n_shown} show that it is nearer with a power of .80 ({n_random} at random)."
    )


def count_differing_trials(built: BuiltLists) -> tuple[float, float]:
    """Return the trials of a session on which two models differ: as drawn, and drawn at random."""
    rows = {(row.template, row.frame): row for row in built.inclusion}
    alternatives: dict[tuple[str, int | None], list[float]] = {}
    for row in built.inclusion:
        alternatives.setdefault((row.template, row.pair), []).append(row.difference)
    shown, at_random = [], []
    for entries in built.lists:
        items = [(entry.item.template, entry.item.frame) for entry in entries]
        drawn = [rows[item] for item in items if item in rows]
        shown.append(sum(row.difference for row in drawn))
        at_random.append(sum(fmean(alternatives[row.template, row.pair]) for row in drawn))
    return fmean(shown), fmean(at_random)
