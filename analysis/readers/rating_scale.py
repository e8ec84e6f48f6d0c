"""The scale of ratings collected elsewhere: its ends, and how they are known."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.data.scales import write_ends
from analysis.errors import AnalysisError
from analysis.readers.mapping import TableMap

RATING, RATING_SCALE = "rating", "rating_scale"
FEWEST, MOST_POINTS = 2, 9
_TO = " to "
# The ends of usual scales other than points from 1; some are of decimals.
_OF_WHOLE_NUMBERS = {
    *((0.0, float(n)) for n in (*range(2, 12), 20, 50, 100, 1000)),
    *((1.0, float(n)) for n in (10, 11, 20, 50, 100)),
    *((-float(n), float(n)) for n in (1, 2, 3, 4, 5, 10, 50, 100)),
}
_OF_DECIMALS = {(0.0, 1.0), (0.0, 10.0), (0.0, 100.0), (-1.0, 1.0), (-50.0, 50.0), (-100.0, 100.0)}
_IN_MAPPING = "scale = [LOWEST, HIGHEST] in the mapping"


@dataclass(frozen=True, slots=True)
class RatingScale:
    """Ratings with the ends of their scale.

    Attributes:
        ratings: Shape ``(ratings,)``: whole numbers, or decimals of a slider.
        ends: The lowest and the highest rating that could be given.
        evidence: How the ends are known, as a sentence.
        is_stated: Whether the mapping states them.
    """

    ratings: "pd.Series[float]"
    ends: tuple[float, float]
    evidence: str
    is_stated: bool = False

    @property
    def is_points(self) -> bool:
        """Whether these are points of a scale from 1, as Parallax asks for them."""
        low, high = self.ends
        return low == 1 and FEWEST <= high <= MOST_POINTS and self.are_whole

    @property
    def are_whole(self) -> bool:
        """Whether all ratings are whole numbers."""
        return bool((self.ratings == self.ratings.round()).all())


def usual_ends(ratings: "pd.Series[float]") -> tuple[float, float] | None:
    """Return the ends of a usual scale, other than points from 1, if ratings reach both.

    Zeros and ones alone are no scale.
    """
    ends = float(ratings.min()), float(ratings.max())
    is_whole = bool((ratings == ratings.round()).all())
    known = _OF_WHOLE_NUMBERS if is_whole else _OF_DECIMALS
    return ends if ends in known and ratings.nunique() > FEWEST else None


def state_scale(rows: pd.DataFrame, mapping: TableMap) -> pd.DataFrame:
    """Return ratings in the long form with the scale that the mapping states, if it does."""
    if mapping.scale is None or RATING not in rows:
        return rows
    return rows.assign(**{RATING_SCALE: write_ends(mapping.scale)})


def read_ratings(long: pd.DataFrame, path: Path) -> RatingScale:
    """Return the ratings of a table in the long form, with the ends of their scale.

    Without a column that states the scale, it has points from 1, or is a usual one whose ends the
    ratings reach.

    Raises:
        AnalysisError: A rating is no number, or is outside the scale; or the scale is not known.
    """
    ratings = pd.to_numeric(long[RATING], errors="coerce").astype(float).reset_index(drop=True)
    where = f'{path}, the column "{RATING}"'
    if RATING_SCALE in long:
        ends = _read_ends(long[RATING_SCALE], path)
        _refuse(long[RATING], ratings.between(*ends), f"a scale from {write_ends(ends)}", where)
        evidence = f"The ratings are on the stated scale, from {write_ends(ends)}"
        return RatingScale(ratings, ends, evidence, is_stated=True)
    is_point = ratings.between(1, MOST_POINTS) & (ratings == ratings.round())
    if is_point.all():
        high = max(FEWEST, int(ratings.max()))
        evidence = (
            f"the scale is taken to go from 1 to {high}, the highest rating: the file does not say "
            "where it ends"
        )
        return RatingScale(ratings, (1.0, float(high)), evidence)
    if ratings.notna().all() and (usual := usual_ends(ratings)):
        at_ends = (f"{int((ratings == end).sum()):,} ratings are {end:g}" for end in usual)
        evidence = f"the scale is taken to go from {write_ends(usual)}: {', '.join(at_ends)}"
        return RatingScale(ratings, usual, evidence)
    _refuse(long[RATING], is_point, "a scale", where)
    raise AssertionError("a rating is no point of a scale")


def _read_ends(cells: "pd.Series[str]", path: Path) -> tuple[float, float]:
    stated = set(cells.astype(str))
    try:
        (text,) = stated
        low, high = map(float, text.split(_TO))
    except ValueError:
        low = high = 0.0
    if not low < high:
        raise AnalysisError(
            f'the scale of the ratings is "{min(stated)}"',
            where=f'{path}, the column "{RATING_SCALE}"',
            expected='one scale, from its lowest to its highest value: "0 to 100"',
            remedy=f"Correct the column, or {_IN_MAPPING}",
        )
    return low, high


def _refuse(cells: "pd.Series[str]", is_point: "pd.Series[bool]", scale: str, where: str) -> None:
    if is_point.all():
        return
    first = cells.iloc[int(np.flatnonzero(~is_point)[0])]
    raise AnalysisError(
        f"{int((~is_point).sum()):,} of {len(cells):,} ratings are not points of {scale}; the "
        f'first is "{first}"',
        where=where,
        expected=f"whole numbers from 1 to {MOST_POINTS} at most, or a slider or scale whose ends "
        "the ratings reach (0 and 100, -3 and 3), as people chose them: neither means nor standard "
        "scores",
        remedy=f"Name the column with the raw ratings, and their scale with {_IN_MAPPING}; leave "
        f'unanswered trials out with skip_blank = ["{RATING}"], or translate words below '
        f"[values.{RATING}]",
    )
