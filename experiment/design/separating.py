"""Frames drawn where models differ, each with a known probability of being drawn.

Each template's frames have two strata: those on which the models do not differ, drawn with equal
probabilities, and the others, drawn the more often, the more the models differ. The numbers drawn
of both are fixed, so that accuracies weighted by the inverse of the probabilities estimate those of
all frames without bias: Horvitz, D. G. & Thompson, D. J. (1952). A generalization of sampling
without replacement from a finite universe. JASA, 47, 663-685. Frames that share words are drawn in
pairs (``experiment.design.exchanges``), of each pair one exchange of words.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import fmean, pstdev

from experiment.errors import DesignError
from experiment.records import Item
from experiment.responses.base import Gives
from experiment.responses.registry import known_response
from experiment.studies.study import Study
from experiment.tables.files import parse_table
from experiment.tables.model_scores import ModelScores
from experiment.tables.schemas import AGREE, DIFFER, INCLUSION

INCLUSION_FILE = "inclusion.csv"
RANDOM_SHARE = 0.25
# With one frame of a stratum its variation could not be estimated.
_FEWEST = 2
_ROUNDING = 1e-6
# Scores that differ by rounding alone do not differ.
_DECIMALS = 9


@dataclass(frozen=True, slots=True)
class Inclusion:
    """A frame and its probability of being drawn; the columns of the table ``inclusion``.

    Frames with the same pair and exchange are drawn together; without a pair, a frame is drawn by
    itself.
    """

    template: str
    frame: str
    difference: float
    stratum: str
    probability: float
    models: str
    pair: int | None = None
    exchange: int | None = None


# The items of each frame, by template and frame.
Frames = Mapping[str, Mapping[str, Sequence[Item]]]


def find_differences(
    study: Study, frames: Frames, models: Sequence[ModelScores]
) -> dict[str, dict[str, float]]:
    """Return how much the models differ on each frame, by template and frame.

    A frame's number is the mean over its items and over the pairs of models: of disagreements, if
    answers are right or wrong (0 or 1); otherwise of the absolute differences between scores, each
    model's in its own standard deviations.

    Args:
        study: The study; its type of response says what models predict.
        frames: The items of each frame that may be drawn, by template and frame.
        models: The scores of at least two models.

    Raises:
        DesignError: There are too few models, an item has no score, or no two models differ.
    """
    names = [scores.model for scores in models]
    if len(set(names)) < max(2, len(names)):
        raise DesignError(
            f"these are scores of {' and '.join(names)}, which are not several models",
            where="--separate",
            expected="a score file for each of several models",
            remedy="Repeat --separate for each file",
        )
    items = [i for of_template in frames.values() for group in of_template.values() for i in group]
    predicted = [_predict(scores, items, decides=are_choices(study, items)) for scores in models]
    of_items = iter(
        fmean(abs(first - second) for first, second in combinations(values, 2))
        for values in zip(*predicted, strict=True)
    )
    differences = {
        template: {
            frame: round(fmean(next(of_items) for _ in group), _DECIMALS)
            for frame, group in groups.items()
        }
        for template, groups in frames.items()
    }
    if not any(number for numbers in differences.values() for number in numbers.values()):
        raise DesignError(
            f"{' and '.join(names)} never differ on the {len(items)} items of the squares, so no "
            "frame separates them",
            where="--separate",
            expected="scores of models that differ on some items",
            remedy="Build the lists without --separate, or add other items or models",
        )
    return differences


def are_choices(study: Study, items: Iterable[Item]) -> bool:
    """Return whether answers to items are choices of a version, which models make as well."""
    response = known_response(study)
    types = () if response is None else map(response.of_item, items)
    return all(Gives.RIGHT in type_.gives and not type_.measures for type_ in types)


def _predict(scores: ModelScores, items: Sequence[Item], *, decides: bool) -> list[float]:
    """Return what a model predicts of each item: its choice, or its standardised score."""
    both = decides or bool(scores.contrast)
    missing = [
        item.item_id
        for item in items
        if item.item_id not in scores.good or (both and item.item_id not in scores.contrast)
    ]
    if missing:
        raise DesignError(
            f"{len(missing)} of the {len(items)} items of the squares have no score, the first "
            f"is {missing[0]}",
            where=str(scores.path),
            expected="a score of each version of every item",
            remedy="Score the study's materials with `parallax lm score`",
        )
    nats = [scores.good[i.item_id] - scores.contrast.get(i.item_id, 0.0) for i in items]
    if decides:
        return [float(difference > 0) for difference in nats]
    mean, spread = fmean(nats), pstdev(nats) or 1.0
    return [(value - mean) / spread for value in nats]


def compute_inclusion(
    study: Study,
    differences: Mapping[str, Mapping[str, float]],
    models: Sequence[str],
    random_share: float,
    pairs: Mapping[str, Sequence[Sequence[Sequence[str]]]] | None = None,
) -> list[Inclusion]:
    """Return every frame that could be drawn with its probability of being drawn.

    Args:
        study: The study; its squares say how many frames are drawn of each template.
        differences: From ``find_differences``.
        models: The models' names.
        random_share: The share of frames that is drawn at random from all.
        pairs: The exchanges of each pair of the templates whose frames are drawn in pairs.

    Raises:
        DesignError: The frames cannot be drawn one by one, and no pair has exchanges.
    """
    pairs, named = pairs or {}, "; ".join(models)
    rows = []
    for square in study.design.squares:
        n = (square.frames or study.design.lists) // len(square.templates)
        for template in square.templates:
            frames = differences[template]
            drawn = (
                _draw_exchanges(frames, pairs[template], random_share)
                if template in pairs
                else _draw_alone(frames, n, random_share)
            )
            for frame, probability, pair, exchange in drawn:
                difference = frames[frame]
                stratum = DIFFER if difference else AGREE
                rows.append(
                    Inclusion(
                        template, frame, difference, stratum, probability, named, pair, exchange
                    )
                )
    if all(row.pair and row.probability == 1 for row in rows):
        raise DesignError(
            "no frames can be drawn by probability: they share words or design.disjoint keeps "
            "them apart, and no two of the drawn frames can exchange words",
            where="--separate",
            expected="frames of two slots or more, in many combinations of their words",
            remedy="Number the frames, such as item=12, or build the lists without --separate",
        )
    return rows


_Drawn = Iterator[tuple[str, float, int | None, int | None]]


def _draw_alone(frames: Mapping[str, float], n: int, random_share: float) -> _Drawn:
    probabilities = inclusion_probabilities([*frames.values()], n, random_share)
    for frame, probability in zip(frames, probabilities, strict=True):
        yield frame, probability, None, None


def _draw_exchanges(
    frames: Mapping[str, float], pairs: Sequence[Sequence[Sequence[str]]], random_share: float
) -> _Drawn:
    """Yield the frames of each exchange, with the probability r / n + (1 - r) difference / sum."""
    for pair, exchanges in enumerate(pairs, start=1):
        differences = [sum(frames[frame] for frame in exchange) for exchange in exchanges]
        total, share = sum(differences), 1 / len(exchanges)
        for number, exchange in enumerate(exchanges):
            by_difference = differences[number] / total if total else share
            probability = random_share * share + (1 - random_share) * by_difference
            for frame in exchange:
                yield frame, probability, pair, number


def inclusion_probabilities(
    differences: Sequence[float], n: int, random_share: float
) -> list[float]:
    """Return each frame's probability of being among ``n`` drawn frames.

    With N frames it is proportional to ``r / N + (1 - r) difference / sum of differences``, at most
    1. In the stratum without differences it is changed so that a whole number of frames is drawn,
    at least two.

    Args:
        differences: How much the models differ on each frame of a template; at least ``n``.
        n: How many frames are drawn.
        random_share: The share of frames that is drawn at random, r.
    """
    n_all, total = len(differences), sum(differences)
    n_agree = sum(not difference for difference in differences)
    n_differ = n_all - n_agree
    drawn_agree = round(n * random_share * n_agree / n_all) if n_differ else n
    drawn_agree = min(n_agree, n, max(drawn_agree, _FEWEST, n - n_differ))
    sizes = [random_share / n_all + (1 - random_share) * d / (total or 1) for d in differences]
    of_differing = iter(
        _cap([s for s, d in zip(sizes, differences, strict=True) if d], n - drawn_agree)
    )
    return [next(of_differing) if d else drawn_agree / n_agree for d in differences]


def _cap(sizes: Sequence[float], n: int) -> list[float]:
    """Return probabilities in proportion to sizes that sum to ``n``, none above 1."""
    certain = [False] * len(sizes)
    while True:
        rest = sum(size for size, is_certain in zip(sizes, certain, strict=True) if not is_certain)
        factor = (n - sum(certain)) / rest if rest else 0.0
        above = [
            is_certain or size * factor >= 1
            for size, is_certain in zip(sizes, certain, strict=True)
        ]
        if above == certain:
            break
        certain = above
    return [
        1.0 if is_certain else size * factor
        for size, is_certain in zip(sizes, certain, strict=True)
    ]


def draw_by_probability(probabilities: Sequence[float], rng: random.Random) -> list[int]:
    """Return which units are drawn, as many as the probabilities sum to, each with its own.

    Randomised pivotal sampling: Deville, J.-C. & Tille, Y. (1998). Unequal probability sampling
    without replacement through a splitting method. Biometrika, 85, 89-101.

    Args:
        probabilities: Each unit's probability; they sum to a whole number.
        rng: The random generator.
    """
    drawn = [index for index, probability in enumerate(probabilities) if probability >= 1]
    undecided = [index for index, probability in enumerate(probabilities) if 0 < probability < 1]
    rng.shuffle(undecided)
    if not undecided:
        return drawn
    holder, held = undecided[0], probabilities[undecided[0]]
    for rival in undecided[1:]:
        total = held + probabilities[rival]
        if total < 1:
            keeps, held = rng.random() * total < held, total
        else:
            # One of the two is drawn, and the other competes with what is left.
            keeps = rng.random() * (2 - total) < 1 - probabilities[rival]
            drawn.append(holder if keeps else rival)
            holder, held, keeps = (rival if keeps else holder), total - 1, True
        if not keeps:
            holder = rival
    return sorted([*drawn, holder] if held > 1 / 2 else drawn)


def draw_frames(rows: Sequence[Inclusion], rng: random.Random) -> list[str]:
    """Return the drawn frames of a template: stratum by stratum, or an exchange of each pair."""
    drawn = []
    for stratum in (DIFFER, AGREE):
        of_stratum = [row for row in rows if row.stratum == stratum and not row.pair]
        chosen = draw_by_probability([row.probability for row in of_stratum], rng)
        drawn += [of_stratum[index].frame for index in chosen]
    pairs: dict[int, dict[int | None, list[Inclusion]]] = {}
    for row in rows:
        if row.pair:
            pairs.setdefault(row.pair, {}).setdefault(row.exchange, []).append(row)
    for exchanges in map(list, map(dict.values, pairs.values())):
        [exchange] = rng.choices(
            exchanges, [of_exchange[0].probability for of_exchange in exchanges]
        )
        drawn += [row.frame for row in exchange]
    return drawn


def read_inclusion(study: Study) -> tuple[Inclusion, ...]:
    """Return the table of inclusion probabilities that the study names; empty without one.

    Raises:
        DesignError: The table is missing.
        TableError: The table is malformed.
    """
    name = study.design.inclusion
    if not name:
        return ()
    try:
        text = study.read(name)
    except FileNotFoundError as error:
        raise DesignError(
            f'the table "{name}" of inclusion probabilities is missing',
            where=str(study.folder / name),
            expected="the table that `parallax lists build --separate` wrote",
            remedy="Copy it into the study's folder, or remove design.inclusion",
        ) from error
    return tuple(Inclusion(**row) for row in parse_table(INCLUSION, text, study.folder / name))  # type: ignore[arg-type]


def inclusion_rows(rows: Iterable[Inclusion]) -> list[dict[str, object]]:
    """Return the rows of the table ``inclusion``."""
    return [asdict(row) for row in rows]


def check_inclusion(
    template: str, rows: Sequence[Inclusion], frames: Iterable[str], n_frames: int
) -> None:
    """Check that probabilities are of a template's frames and of as many as are drawn.

    Raises:
        DesignError: A frame lacks a probability or is unknown, or the probabilities of a stratum or
            pair do not sum to a whole number, or all not to the number of frames.
    """
    remedy = "Build the table again with `parallax lists build --separate`"
    listed, known = {row.frame for row in rows}, set(frames)
    in_pairs = any(row.pair for row in rows)
    if odd := sorted(listed - known if in_pairs else listed ^ known):
        raise DesignError(
            f"{len(odd)} frames are in the materials or in the table of inclusion probabilities, "
            f'but not in both; the first is "{odd[0]}"',
            where=f'the template "{template}"',
            expected="a probability for each frame",
            remedy=remedy,
        )
    by_draw: dict[str | int, float] = {}
    for row in rows:
        key = row.pair or row.stratum
        by_draw[key] = by_draw.get(key, 0.0) + row.probability
    sums = by_draw.values()
    within = all(0 < row.probability <= 1 + _ROUNDING for row in rows)
    whole = all(abs(total - round(total)) < _ROUNDING * max(1, len(rows)) for total in sums)
    if not within or not whole or round(sum(sums)) != n_frames:
        raise DesignError(
            f"the inclusion probabilities sum to {sum(sums):g}, but {n_frames} frames are drawn",
            where=f'the template "{template}"',
            expected="probabilities above 0, at most 1, that sum to a whole number in each stratum "
            "or pair and to the number of frames over all",
            remedy=remedy,
        )
