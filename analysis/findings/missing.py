"""Report constructions, conditions and levels of the study that have no judgments."""

from collections.abc import Iterator, Mapping

from analysis.data.own_columns import PREFIX
from analysis.findings.design import designs
from analysis.findings.finding import CONDITION, Given
from experiment.records import Kind

_NAMED = 5


def missing(given: Given) -> Iterator[str]:
    """Yield the parts of the design that have no judgments from kept participants."""
    judged = given.data.judgments
    titles = {one.name: one.title for one in given.context.study.constructions}
    left = set(judged["construction"].astype(str))
    without = [title for name, title in titles.items() if name not in left]
    if without and len(without) < len(titles):
        yield f"No judgments are left on {_listed(without)}."
    yield from _of_conditions(given, titles)
    yield from _of_levels(given, titles)


def _of_conditions(given: Given, titles: Mapping[str, str]) -> Iterator[str]:
    """Yield conditions without judgments, in constructions that have some."""
    items, judged = given.run.items, given.data.judgments
    targets = items.loc[items["kind"].astype(str) == Kind.TARGET, list(CONDITION)].astype(str)
    have = set(
        judged[list(CONDITION)].drop_duplicates().astype(str).itertuples(index=False, name=None)
    )
    judged_ones = {own for own, _ in have}
    for name, rows in targets.drop_duplicates().groupby("construction", sort=False):
        absent = [own for own in rows["condition"] if (str(name), own) not in have]
        if absent and str(name) in judged_ones:
            yield f"{titles.get(str(name), name)}: no judgments are left in {_listed(absent)}."


def _of_levels(given: Given, titles: Mapping[str, str]) -> Iterator[str]:
    """Yield between-participant levels without kept participants, and remaining empty cells."""
    judged, declared = given.data.judgments, given.run.study.design.factors
    between = {name: judged[f"{PREFIX}{name}"].astype(str) for name in declared
               if f"{PREFIX}{name}" in judged}  # fmt: skip
    for name, levels in between.items():
        absent = [level for level in declared[name] if level not in set(levels)]
        if absent:
            yield f"No participants are left with {name} = {_listed(absent)}."
    told = {str(level) for levels in between.values() for level in levels.unique()}
    for name, _, cross in designs(given) if between else ():
        empty = [", ".join(levels) for levels in cross.empty if told & set(levels)]
        if empty:
            yield (
                f"{titles.get(name, name)}: no judgments are left in {_listed(empty)}; "
                "contrasts that need that are not made."
            )


def _listed(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
