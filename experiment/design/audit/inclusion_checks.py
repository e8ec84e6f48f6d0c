"""The checks of lists whose frames were drawn where models differ."""

from collections import Counter
from collections.abc import Iterator

from experiment.design.audit.sessions import Check, check
from experiment.design.lists import BuiltLists


def inclusion_checks(built: BuiltLists) -> Iterator[Check]:
    """Yield the checks that frames were drawn as their probabilities say.

    Each template has as many frames of each stratum or pair as the probabilities sum to, and those
    of a pair are of one exchange. Frames without a probability count as a stratum of their own, of
    which none is expected.
    """
    if not built.inclusion:
        return
    rows = {(row.template, row.frame): row for row in built.inclusion}
    strata = {frame: f"pair {row.pair}" if row.pair else row.stratum for frame, row in rows.items()}
    templates = {row.template for row in built.inclusion}
    items = {entry.item for entries in built.lists for entry in entries}
    frames = {(item.template, item.frame) for item in items if item.template in templates}
    drawn = Counter((frame[0], strata.get(frame, "no probability")) for frame in frames)
    expected: dict[tuple[str, str], float] = {}
    for frame, row in rows.items():
        key = row.template, strata[frame]
        expected[key] = expected.get(key, 0.0) + row.probability
    differing = [
        f"{drawn[key]} of {' '.join(key)}"
        for key in sorted(drawn.keys() | expected.keys())
        if drawn[key] != round(expected.get(key, 0.0))
    ]
    totals = Counter[str]()
    for (_, stratum), total in expected.items():
        in_pairs = stratum.startswith("pair ")
        totals["in pairs" if in_pairs else f"on which the models {stratum}"] += round(total)
    words = ", ".join(f"{n} {name}" for name, n in sorted(totals.items()))
    yield check("frames drawn of each stratum", words, differing)
    exchanges: dict[tuple[str, int], set[int | None]] = {}
    for row in (rows[frame] for frame in frames if frame in rows):
        if row.pair:
            exchanges.setdefault((row.template, row.pair), set()).add(row.exchange)
    if exchanges:
        mixed = (
            f"{template} pair {n}" for (template, n), found in exchanges.items() if len(found) > 1
        )
        yield check("exchanges of words drawn for a pair of frames", "1", sorted(mixed))
