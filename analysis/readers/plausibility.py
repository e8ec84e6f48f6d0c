"""Check whether judgments are plausible under a mapping: accuracy and reaction times."""

import pandas as pd
from scipy.special import bdtr  # scipy.stats takes a second to import

from analysis.data.load import ExportedRun
from analysis.data.n_alternatives import chance_accuracy, find_options
from analysis.errors import AnalysisError
from experiment.records import Variant

# Attentive participants are more accurate; a wrong mapping gives this accuracy or less.
LOWEST_ACCURACY, PAIR_CHANCE = 0.6, 0.5
_FASTEST_MS = 100.0
_RARE, _TENTH = 0.05, 0.1
_ACCEPT_OPTION = "--accept-low-accuracy"


def check_accuracy(run: ExportedRun) -> None:
    """Raise if accuracy is near or below chance, a sign of a wrongly coded choice.

    Raises:
        AnalysisError: The accuracy over all judgments is below ``LOWEST_ACCURACY``. The message
            says what the swapped coding would give, and what else may be wrong.
    """
    chose_good = run.responses["chose_good"].dropna()
    if chose_good.empty:
        _check_ratings(run)
        return
    accuracy = float(chose_good.mean())
    if find_options(run):
        _check_among_options(accuracy, chance_accuracy(run), len(chose_good), run)
        return
    if accuracy >= LOWEST_ACCURACY:
        return
    raise AnalysisError(
        f"people chose the expected version in {_format_share(accuracy)} of "
        f"{len(chose_good):,} judgments, which is {_relation_to_chance(accuracy)} chance; "
        f"{_describe_swapped_coding(accuracy)}{_describe_reversed_participants(run)}",
        where=str(run.folder),
        expected=(
            f"an accuracy of at least {_format_share(LOWEST_ACCURACY)}, as attentive people have"
        ),
        remedy=f"Correct the mapping; if people really were wrong that often, add {_ACCEPT_OPTION}",
    )


def _check_among_options(
    accuracy: float, chance: float, n_judgments: int, run: ExportedRun
) -> None:
    """Raise if people chose the expected one of several options hardly more than by chance."""
    lowest = chance * LOWEST_ACCURACY / PAIR_CHANCE
    if accuracy >= lowest:
        return
    raise AnalysisError(
        f"people chose the expected option in {_format_share(accuracy)} of {n_judgments:,} "
        f"judgments; guessing gives {_format_share(chance)}",
        where=str(run.folder),
        expected=f"an accuracy of at least {_format_share(lowest)}, as attentive people have",
        remedy="Check which columns hold the options, in their order, and which the choice; if "
        f"people really were wrong that often, add {_ACCEPT_OPTION}",
    )


def _check_ratings(run: ExportedRun) -> None:
    """Raise if the expected versions are not rated higher than the others."""
    if "rating" not in run.responses:
        return
    means = run.responses.groupby("version", observed=True)["rating"].mean()
    good, other_means = (
        means.get(Variant.GOOD.value),
        means.drop(Variant.GOOD.value, errors="ignore"),
    )
    if good is None or other_means.empty or good > other_means.mean():
        return
    raise AnalysisError(
        f"the expected versions are rated {good:.2f} on average and the others "
        f"{other_means.mean():.2f}: the scale probably runs the other way, or the versions are "
        "exchanged",
        where=str(run.folder),
        expected="higher ratings of the expected versions",
        remedy='Reverse the scale below [values.rating] in the mapping ("1" = "7" and so on), '
        f"or correct [values.version]; if people really rated so, add {_ACCEPT_OPTION}",
    )


def _relation_to_chance(accuracy: float) -> str:
    return "below" if accuracy < 1 - LOWEST_ACCURACY else "near"


def _format_share(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def _describe_swapped_coding(accuracy: float) -> str:
    swapped = _format_share(1 - accuracy)
    if 1 - accuracy > LOWEST_ACCURACY:
        return (
            f"with the coding swapped it would be {swapped}, the mirror image: the two values of "
            "the choice are probably exchanged"
        )
    return (
        f"with the coding swapped it would be {swapped}, no mirror image of a high accuracy: the "
        "values are probably sides or keys, and the expected version changed sides (map the "
        "column good_side or option_first)"
    )


def _describe_reversed_participants(run: ExportedRun) -> str:
    """Return the number of reversed participants, if there are several but not all."""
    rows = run.responses.dropna(subset="participant")
    accuracy_by_person = rows.groupby("participant", observed=True)["chose_good"].mean()
    low, high = (
        int((accuracy_by_person < 1 - LOWEST_ACCURACY).sum()),
        int((accuracy_by_person > LOWEST_ACCURACY).sum()),
    )
    if (
        min(low, high) == 0
        or len(accuracy_by_person) < 4
        or low + high < len(accuracy_by_person) / 2
    ):
        return ""
    return (
        f". {low} of {len(accuracy_by_person)} participants are below "
        f"{_format_share(1 - LOWEST_ACCURACY)} and "
        f"{high} above {_format_share(LOWEST_ACCURACY)}: their keys may have been assigned in two "
        "ways"
    )


def count_below_chance(run: ExportedRun) -> int:
    """Return the number of participants whose accuracy is significantly below chance.

    Each participant is tested by a binomial test at .05.
    """
    rows = run.responses.dropna(subset="participant")
    counts_by_person = rows.groupby("participant", observed=True)["chose_good"].agg(["sum", "size"])
    p_values = bdtr(
        counts_by_person["sum"].astype(int), counts_by_person["size"], chance_accuracy(run)
    )
    return int((p_values < _RARE).sum())


def check_key_assignment(run: ExportedRun) -> None:
    """Raise if some participants' responses are reversed relative to the others.

    Raises:
        AnalysisError: A tenth of the participants, and at least two, chose the expected version
            less often than by chance, while the others chose it more often.
    """
    people = int(run.responses["participant"].dropna().nunique())
    low = count_below_chance(run)
    if low < max(2, people * _TENTH) or low > people / 2:
        return
    raise AnalysisError(
        f"{low} of {people} participants chose the expected version less often than by chance, "
        "and the others more often: their keys were probably assigned the other way round",
        where=str(run.folder),
        expected="participants whose choices are coded in one way",
        remedy="Map the column good_side or option_first; if they really were wrong that often, "
        f"add {_ACCEPT_OPTION}",
    )


def check_times(rt_ms: "pd.Series[float]", where: str) -> None:
    """Raise if half of the reaction times are too short for reading two sentences.

    Raises:
        AnalysisError: The median is below a tenth of a second, as with seconds taken for
            milliseconds.
    """
    median = rt_ms[rt_ms > 0].median()
    if median < _FASTEST_MS:
        raise AnalysisError(
            f"the median reaction time is {median:.3g} ms, which is faster than people can choose",
            where=where,
            expected="milliseconds",
            remedy='If the times are in seconds, write rt_unit = "s" in the mapping',
        )
