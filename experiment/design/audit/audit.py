"""The audit: all checks of a design, computed from scratch on the built lists."""

import random
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from math import expm1, inf, sqrt
from statistics import fmean, median, variance

from experiment.design.audit.inclusion_checks import inclusion_checks
from experiment.design.audit.list_checks import (
    frame_checks,
    list_checks,
    origin_checks,
    wording_checks,
)
from experiment.design.audit.session_checks import session_checks, shared_checks
from experiment.design.audit.sessions import (
    Check,
    Session,
    check,
    compose_all,
    make_info_row,
    square_contents,
)
from experiment.design.frames import MaterialsIndex, index_materials
from experiment.design.lists import BuiltLists
from experiment.design.ordering.constraints import (
    Constraint,
    Spread,
    constraints_of_block,
    declare_constraints,
    keeps,
    separate_columns,
)
from experiment.design.ordering.order import (
    SWEEPS,
    draw_by_chain,
    draw_order,
    groups_apart,
    is_counted,
    position_shares,
    sweep_once,
    violation_cost,
)
from experiment.design.session import blocks_of
from experiment.errors import DesignError
from experiment.materials.read import load_items
from experiment.records import Item, ListEntry
from experiment.seeds import generator
from experiment.studies.design import Design
from experiment.studies.study import Study

N_ORDER_SEEDS = 1000
# A sound design fails by chance once in some million launches: a normal deviate of 5.5.
_DEVIATION = 5.5
_LEAST_EXPECTED_COUNT = 5
_LONG_STRETCH = 4
# Drawing an order takes time quadratic in its trials; for longer sessions fewer orders are drawn.
_LONG_SESSION = 400
_TOO_MANY_STATES = "not compared: drawn by exact counts, with too many states to count each out"
_CHAINS, _DRAWS, _MOST_RHAT = 4, 50, 1.3


def order_checks(study: Study, sessions: Sequence[Session]) -> Iterator[Check]:
    """Yield the checks that each composed session keeps its blocks and its order constraints."""
    design = study.design
    columns = " and ".join(separate_columns(design))
    separation = f"differ in {columns}" if columns else "anything"
    yield check("neighbouring trials", separation, _find_alike_neighbours(sessions, design))
    yield check(
        "catch trials over a session", "one per stretch", _find_bunched_trials(sessions, design)
    )
    yield check(
        "what the order must keep",
        _describe_constraints(sessions, design),
        _find_broken_constraints(sessions, design),
    )
    yield check("blocks of a session", "one after the other", _find_mixed_blocks(sessions, design))


def _find_alike_neighbours(sessions: Sequence[Session], design: Design) -> Iterator[str]:
    for session in sessions:
        for column in separate_columns(design):
            values = session.labels(column)
            for at in range(1, len(values)):
                if values[at] is not None and values[at] == values[at - 1]:
                    yield f"{session.name}, positions {at} and {at + 1}: {values[at]}"


def _split_into_blocks(session: Session, design: Design) -> list[list[ListEntry]]:
    entries = session.shown
    blocks = blocks_of(entries, design, session.place)
    return [[entries[index] for index in block] for block in blocks]


def _find_bunched_trials(sessions: Sequence[Session], design: Design) -> Iterator[str]:
    for session in sessions:
        for block in _split_into_blocks(session, design):
            for constraint in declare_constraints(block, design):
                if isinstance(constraint, Spread) and not keeps(range(len(block)), [constraint]):
                    yield f"{session.name}: {constraint.column}"


def _describe_constraints(sessions: Sequence[Session], design: Design) -> str:
    constraint_texts = (
        constraint.text
        for session in sessions[:1]
        for n, block in enumerate(_split_into_blocks(session, design))
        for constraint in constraints_of_block(block, design, first=not n)
    )
    return "; ".join(dict.fromkeys(constraint_texts)) or "nothing"


def _find_broken_constraints(sessions: Sequence[Session], design: Design) -> Iterator[str]:
    for session in sessions:
        for n, block in enumerate(_split_into_blocks(session, design)):
            for constraint in constraints_of_block(block, design, first=not n):
                if not keeps(range(len(block)), [constraint]):
                    yield f"{session.name}: not so that {constraint.text}"


def _find_mixed_blocks(sessions: Sequence[Session], design: Design) -> Iterator[str]:
    block_of = design.block_of
    for session in sessions:
        shown_blocks = [
            name for name, _ in groupby(block_of.get(e.item.template) for e in session.shown)
        ]
        blocks = blocks_of(session.shown, design, session.place)
        expected = [
            block_of.get(session.shown[block[0]].item.template) for block in blocks if block
        ]
        if shown_blocks != expected:
            yield f"{session.name}: {', '.join(str(name) for name in shown_blocks)}"


def drawing_checks(study: Study, built: BuiltLists, n_seeds: int) -> Iterator[Check]:
    """Yield the checks that the first list's orders are drawn evenly, over this many seeds."""
    if not n_seeds or not built.lists:
        return
    entries = built.lists[0]
    for n, block in enumerate(blocks_of(entries, study.design, 0)):
        block_entries = [entries[index] for index in block]
        try:
            constraints = tuple(constraints_of_block(block_entries, study.design, first=not n))
            yield from _block_checks(len(block_entries), constraints, built.seed, n, n_seeds)
        except DesignError:
            # The check of the composed sessions already reports this.
            continue


# The same lists are audited when a study is checked, planned and launched.
@lru_cache(maxsize=64)
def _block_checks(
    n: int, constraints: tuple[Constraint, ...], seed: int, block: int, n_seeds: int
) -> tuple[Check, ...]:
    name = f" in block {block + 1}" if block else ""
    if constraints and not is_counted(n, constraints):
        return (_compare_chains(n, constraints, generator(seed, "audit", "chains", block), name),)
    n_seeds = round(n_seeds * min(1, (_LONG_SESSION / max(1, n)) ** 2))
    drawn = [draw_order(n, constraints, generator(seed, "audit", block, i)) for i in range(n_seeds)]
    positions: list[list[int]] = [[] for _ in range(n)]
    for order in drawn:
        for position, index in enumerate(order):
            positions[index].append(position)
    spread = _check_distribution(
        positions, n, constraints, f"positions of each trial{name}, {n_seeds:,} seeds"
    )
    slack = _compute_position_slack(n, constraints)
    if slack is None:
        return (spread,)
    centred = check(
        f"mean position of each trial{name}, {n_seeds:,} seeds",
        f"{(n + 1) / 2:g}",
        _find_off_centre(positions, n, slack),
    )
    return centred, spread


def _compute_position_slack(n: int, constraints: Sequence[Constraint]) -> float | None:
    """Return how far a trial's mean position may be from the middle by design; None if unknown.

    Constraints are symmetric under reversal, so that every trial's mean position is the middle.
    Only stretches of unequal lengths deviate; if they are long, by less than half a position.
    """
    members = next(
        (len(constraint.members) for constraint in constraints if isinstance(constraint, Spread)), 1
    )
    if n % members == 0:
        return 0.0
    return 0.5 if n // members >= _LONG_STRETCH else None


def _find_off_centre(positions: Sequence[Sequence[int]], n: int, slack: float) -> Iterator[str]:
    for index, at in enumerate(positions):
        error = sqrt(variance(at) / len(at)) if len(at) > 1 else 0.0
        if abs(fmean(at) - (n - 1) / 2) > _compute_deviation_limit(len(at)) * error + slack + 1e-9:
            yield f"trial {index + 1} of the list: {fmean(at) + 1:.1f}"


def _compute_deviation_limit(n_draws: int) -> float:
    """Return the Student deviate as rare as the normal deviate: Gaver & Kafadar (1984)."""
    freedom = max(1, n_draws - 1)
    return sqrt(freedom * expm1(_DEVIATION**2 / freedom))


def _check_distribution(
    positions: Sequence[Sequence[int]], n: int, constraints: Sequence[Constraint], name: str
) -> Check:
    groups = groups_apart(n, constraints)
    sizes = tuple(len(group) for group in groups or ())
    if groups is None or any(isinstance(constraint, Spread) for constraint in constraints):
        return make_info_row(name, _TOO_MANY_STATES)
    statistics, exact = list[tuple[float, int]](), dict[int, list[float] | None]()
    for number, group in enumerate(groups):
        if sizes[number] not in exact:
            exact[sizes[number]] = position_shares(sizes, number)
        shares = exact[sizes[number]]
        if shares is None:
            return make_info_row(name, _TOO_MANY_STATES)
        statistics.extend(_chi_square(positions[index], shares) for index in group)
    figures = (
        f"median chi-square {median(value for value, _ in statistics):.0f} at "
        f"{max(freedom for _, freedom in statistics)} degrees of freedom"
    )
    passed = all(_to_normal_deviate(value, freedom) < _DEVIATION for value, freedom in statistics)
    return Check(name, "as in all allowed orders", figures, passed=passed)


def _chi_square(at: Sequence[int], shares: Sequence[float]) -> tuple[float, int]:
    """Return the chi-square statistic and its degrees of freedom; rare positions are pooled."""
    counts = [0.0] * len(shares)
    for position in at:
        counts[position] += 1
    cells = [(count, share * len(at)) for count, share in zip(counts, shares, strict=True)]
    rare = [cell for cell in cells if cell[1] < _LEAST_EXPECTED_COUNT]
    cells = [cell for cell in cells if cell[1] >= _LEAST_EXPECTED_COUNT]
    if expected := sum(e for _, e in rare):
        cells.append((sum(c for c, _ in rare), expected))
    return sum((c - e) ** 2 / e for c, e in cells), len(cells) - 1


def _to_normal_deviate(chi_square: float, freedom: int) -> float:
    if not freedom:
        return 0.0
    # Wilson & Hilferty (1931): the cube root of a chi-square variable is nearly normal.
    part = 2 / (9 * freedom)
    return float(((chi_square / freedom) ** (1 / 3) - (1 - part)) / sqrt(part))


def _compare_chains(
    n: int, constraints: Sequence[Constraint], rng: random.Random, name: str
) -> Check:
    """Compare chains from different starts: Gelman & Rubin (1992), Statistical Science 7.

    A chain's draws are one sweep apart, so a design with few trials may look worse than it is. In
    that case new orders are drawn from each start, each after all the sweeps of a session's order.
    These independent draws decide whether orders depend on the start.
    """
    starts = [rng.sample(range(n), n) for _ in range(_CHAINS)]
    worst = _worst_rhat([_sample_chain(start, constraints, rng) for start in starts])
    if worst > _MOST_RHAT:
        anew = [[_draw_order(start, constraints, rng) for _ in range(_DRAWS)] for start in starts]
        worst = _worst_rhat(anew)
    figures = f"R-hat of a trial's position at most {worst:.2f}"
    return check(
        f"orders{name} from {_CHAINS} chains of {SWEEPS} sweeps",
        f"R-hat below {_MOST_RHAT}",
        [figures] if worst > _MOST_RHAT else [],
    )


def _sample_chain(
    start: Sequence[int], constraints: Sequence[Constraint], rng: random.Random
) -> list[list[int]]:
    order, chain = _draw_order(start, constraints, rng), []
    for _ in range(_DRAWS):
        sweep_once(order, constraints, rng, violation_cost(len(order)))
        chain.append(list(order))
    return chain


def _draw_order(
    start: Sequence[int], constraints: Sequence[Constraint], rng: random.Random
) -> list[int]:
    order = draw_by_chain(start, constraints, rng)
    if order is None:
        raise DesignError("no order was found")
    return order


def _worst_rhat(chains: Sequence[Sequence[Sequence[int]]]) -> float:
    """Return the largest R-hat of any trial's position over the orders of each chain."""
    positions = [[_positions(order) for order in chain] for chain in chains]
    trials = range(len(chains[0][0]))
    return max(
        _compute_rhat([[at[trial] for at in chain] for chain in positions]) for trial in trials
    )


def _positions(order: Sequence[int]) -> list[int]:
    """Return the position of each trial."""
    place_of = [0] * len(order)
    for position, index in enumerate(order):
        place_of[index] = position
    return place_of


def _compute_rhat(chains: Sequence[Sequence[int]]) -> float:
    within = fmean(variance(chain) for chain in chains)
    between = variance([fmean(chain) for chain in chains])
    if not within:
        return inf if between else 1.0
    return sqrt((len(chains[0]) - 1) / len(chains[0]) + between / within)


def audit(
    study: Study,
    built: BuiltLists,
    items: Iterable[Item] | MaterialsIndex | None = None,
    *,
    order_seeds: int = N_ORDER_SEEDS,
) -> tuple[Check, ...]:
    """Return the results of all checks of the design on the built lists.

    Args:
        study: The study the lists were built for.
        built: The lists.
        items: The study's materials, or their index; by default, the study's own.
        order_seeds: The number of seeds for the checks of trial positions; 0 skips them.

    Raises:
        DesignError: The materials cannot be sorted into frames and conditions.
        UnknownNameError: The design names a template that the materials lack.
    """
    index = index_materials(load_items(study) if items is None else items)
    squares = square_contents(study.design, index, built)
    composition = compose_all(study, built)
    return (
        *origin_checks(study, composition.response, index, built),
        *list_checks(study, squares, built),
        *frame_checks(study.design, index, squares, built),
        *inclusion_checks(built),
        *shared_checks(study.design, index, built, composition.sessions),
        *session_checks(study, built, composition),
        *wording_checks(study),
        *order_checks(study, composition.sessions),
        *drawing_checks(study, built, order_seeds),
    )


def require_passed(checks: Sequence[Check]) -> None:
    """Raise a DesignError that names the failed checks, if there are any."""
    failed = [check for check in checks if not check.passed]
    if failed:
        breaches = "; ".join(
            f"{check.name} (expected {check.expected}, found {check.found})" for check in failed
        )
        raise DesignError(
            f"the lists fail {len(failed)} of {len(checks)} checks: {breaches}",
            remedy="Correct design in study.toml or the materials, and build the lists again",
        )
