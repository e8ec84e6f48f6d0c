"""The comparisons of a study that its rule waits for, and their answers so far."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from experiment.comparisons.planned import PlannedComparison, planned_comparisons
from experiment.errors import ParallaxError, StudyError
from experiment.plugins import unknown_name
from experiment.records import Item
from experiment.responses.registry import response_of
from experiment.stopping.betting import Bounds
from experiment.stopping.rule import Look, Question, look_at, take_blocks
from experiment.stopping.values import ComparedValues, Row, compared_values
from experiment.studies.stopping import Stopping
from experiment.studies.study import Study

Lists = Mapping[int, Collection[str]]


@dataclass(frozen=True, slots=True)
class AskedComparison:
    """A comparison that the rule waits for.

    Attributes:
        planned: The comparison.
        question: The comparison as the rule asks it.
        values: How a participant's value follows from the answers.
        scale: The scale, if trials have several; the comparison is asked of each.
    """

    planned: PlannedComparison
    question: Question
    values: ComparedValues
    scale: str = ""

    @property
    def name(self) -> str:
        """The comparison's name, with the scale if there are several."""
        name = self.planned.declaration.name
        return f"{name} ({self.scale})" if self.scale else name


@dataclass(frozen=True, slots=True)
class Person:
    """A participant, as a rule needs to know them.

    Attributes:
        list: The participant's list.
        place: The participant's place in the list.
        is_kept: Whether the participant finished, and the exclusion rules keep them; None while
            this is open.
        rows: Their rows of the table of responses or readings.
    """

    list: int
    place: int
    is_kept: bool | None
    rows: Sequence[Row]


def list_asked_comparisons(
    study: Study, items: Sequence[Item], lists: Lists
) -> list[AskedComparison]:
    """Return the comparisons that a study's rule waits for; none if the study has no rule.

    Args:
        study: The study.
        items: Its items.
        lists: The ids of each list's items.

    Raises:
        ParallaxError: The rule cannot be applied to one of them.
    """
    rule = study.stopping
    if rule is None:
        return []
    planned = {
        comparison.declaration.name: comparison for comparison in planned_comparisons(study, items)
    }
    names = rule.comparisons or [
        name for name, comparison in planned.items() if comparison.declaration.is_primary
    ]
    for name in names:
        if name not in planned:
            raise unknown_name("comparison", name, planned)
    if not names:
        raise StudyError(
            "the stopping rule has no comparison to test: none is primary",
            expected="a primary comparison, or the names of comparisons",
        )
    measures = {planned[name].measure for name in names}
    if rule.half_width is not None and len(measures) > 1:
        raise StudyError(
            f"half_width = {rule.half_width:g} has the unit of one measure, and the comparisons of "
            f"the stopping rule have several: {', '.join(sorted(measures))}",
            expected="comparisons of one measure, or a rule without half_width",
        )
    on_scales = [
        (planned[name], scale)
        for name in names
        for scale in _list_scales(study, items, planned[name])
    ]
    asked = []
    for comparison, scale in on_scales:
        values = compared_values(study, items, comparison, lists, scale)
        bounds = _choose_bounds(rule, values, comparison.declaration.name, len(measures) > 1)
        question = Question(rule, comparison.declaration, rule.alpha / len(on_scales), bounds)
        asked.append(AskedComparison(comparison, question, values, scale))
    return asked


def _list_scales(study: Study, items: Sequence[Item], planned: PlannedComparison) -> list[str]:
    """Return the names of the scales of a comparison's trials; only "" if they have at most one."""
    response = response_of(study, own_code=False)
    compared = (item for item in items if item.construction in planned.constructions)
    types = [response.of_item(item) for item in islice(compared, 1)]
    return [name for type_ in types for name in type_.named_scales] or [""]


def _choose_bounds(
    rule: Stopping, values: ComparedValues, name: str, several_measures: bool
) -> Bounds | None:
    """Return the bounds of a comparison; those of the rule are about times if there are others."""
    if rule.rule == "planned_looks":
        return None
    if rule.bounds and (values.bounds is None or not several_measures):
        return Bounds(*rule.bounds)
    if values.bounds is None:
        raise StudyError(
            f'the values of the comparison "{name}" have no bounds, which any_time needs',
            expected="bounds = [low, high]: a participant's difference (of mean log times, or of "
            "mean numbers of entries) is limited to them, such as [-.5, .5]; or planned_looks",
        )
    return values.bounds


def stopping_mistakes(
    study: Study, items: Sequence[Item], lists: Lists
) -> Iterator[tuple[str, ParallaxError]]:
    """Yield the mistakes in a study's rule, each with its key (empty for the whole table)."""
    rule = study.stopping
    if rule is None:
        return
    try:
        asked = list_asked_comparisons(study, items, lists)
    except ParallaxError as error:
        yield "", error
        return
    sizes = {comparison.values.n_groups for comparison in asked}
    for key, numbers in (("maximum", (rule.maximum,)), ("looks", rule.looks)):
        for number, size in ((n, size) for n in numbers for size in sorted(sizes) if n % size):
            yield (
                key,
                StudyError(
                    f"{number} participants are not complete blocks of {size}, one "
                    "for each list and version",
                    expected=f"a multiple of {size}, such as {max(1, round(number / size)) * size}",
                ),
            )
    if rule.maximum > study.design.n_places:
        yield (
            "maximum",
            StudyError(
                f"the study has {study.design.n_places} places, fewer than the maximum of "
                f"{rule.maximum}",
                expected="as many places as the maximum, and more where people may be excluded",
            ),
        )
    for comparison in asked:
        bounds, smallest = (
            comparison.question.bounds,
            comparison.question.comparison.smallest_effect,
        )
        if bounds and smallest and not smallest < bounds.high:
            yield (
                "",
                StudyError(
                    f'the smallest effect of "{comparison.name}" is {smallest:g}, and no '
                    f"participant's difference is above {bounds.high:g}",
                    expected="a smallest_effect within the bounds",
                ),
            )


def look_at_answers(comparison: AskedComparison, people: Iterable[Person]) -> Look:
    """Return whether a comparison needs more participants.

    Args:
        comparison: The comparison.
        people: Everybody who was given a list, in the order of arrival.
    """
    values, bounds = comparison.values, comparison.question.bounds
    participants = []
    for person in people:
        group = values.group_of(person.list, person.place)
        if group is None:
            continue
        value = values.value_of(person.list, person.rows) if person.is_kept else None
        if value is not None and bounds is not None:
            value = bounds.limit(value)
        participants.append((group, value, person.is_kept is None))
    return look_at(comparison.question, take_blocks(participants, values.n_groups))
