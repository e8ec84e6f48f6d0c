"""The check of lists whose frames were drawn where models differ."""

from collections import Counter
from collections.abc import Iterator

from experiment.design.audit.sessions import Check, check
from experiment.design.lists import BuiltLists


def inclusion_checks(built: BuiltLists) -> Iterator[Check]:
    """Yield the check that each template has as many frames of each stratum as its probabilities.

    Frames without a probability count as a stratum of their own, of which none is expected.
    """
    if not built.inclusion:
        return
    strata = {(row.template, row.frame): row.stratum for row in built.inclusion}
    templates = {row.template for row in built.inclusion}
    items = {entry.item for entries in built.lists for entry in entries}
    frames = {(item.template, item.frame) for item in items if item.template in templates}
    drawn = Counter((frame[0], strata.get(frame, "no probability")) for frame in frames)
    expected: dict[tuple[str, str], float] = {}
    for row in built.inclusion:
        key = row.template, row.stratum
        expected[key] = expected.get(key, 0.0) + row.probability
    differing = [
        f"{drawn[key]} of {' '.join(key)}"
        for key in sorted(drawn.keys() | expected.keys())
        if drawn[key] != round(expected.get(key, 0.0))
    ]
    totals = Counter[str]()
    for (_, stratum), total in expected.items():
        totals[stratum] += round(total)
    words = ", ".join(f"{n} on which the models {name}" for name, n in sorted(totals.items()))
    yield check("frames drawn of each stratum", words, differing)
