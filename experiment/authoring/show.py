"""A description of a study: design, counts, cost, duration, and an example of every trial."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, dropwhile, takewhile

from experiment.authoring.consent import describe_consent
from experiment.authoring.study_toml import estimate_minutes
from experiment.design.lists import BuiltLists
from experiment.design.ordering.constraints import separate_columns
from experiment.design.practice import read_practice
from experiment.design.session import trial_kinds
from experiment.materials.render import describe_pictures, render
from experiment.money import in_words
from experiment.payment.cost import charge_no_fee, cost
from experiment.records import Kind
from experiment.responses.reading.division import question_text
from experiment.responses.registry import response_of
from experiment.studies.design import Design, Given, Source, Square, holds
from experiment.studies.study import Study
from experiment.tables.files import text_table

# The line that a check prints between its findings and the description.
EXAMPLES_HEADING = "\nThe study:\n"
# The next steps name commands, which are of no use without a shell.
NEXT_STEPS = "is a complete study. Next steps:"
# The heading of the consent's elements, and the width of the headings.
_CONSENT, _INDENT = "Consent", 14
_COLUMNS = ("construction", "kind", "items", "in each list", "conditions")


def describe(study: Study, built: BuiltLists) -> Iterator[str]:
    """Yield the lines that describe a study.

    Args:
        study: The study.
        built: Its lists.
    """
    design, terms = study.design, study.recruitment
    yield f"{study.study.title} ({study.name} {study.study.version}, {study.study.language})"
    yield ""
    yield f"Lists         {_describe_lists(design)}: {design.n_places} participants in all"
    for factor, levels in design.factors.items():
        yield f"Factor        {factor}: {', '.join(levels)}, between participants"
    for wording in design.wording:
        condition = ", ".join(f"{factor} = {level}" for factor, level in wording.when.items())
        changed = [f'"{wording.title}" above each trial'] if wording.title else []
        changed += [f"{text}.md in place of {page}.md" for page, text in wording.pages.items()]
        yield f"Wording       {condition}: {'; '.join(changed)}"
    for square in design.squares:
        yield f"Square        {_describe_square(square, built)}"
    for source in (*design.shared, *design.given):
        yield f"{type(source).__name__:<14}{_describe_source(source, design, built)}"
    yield f"Counted       {count_trials(study, built)}"
    yield f"Neighbours    {_describe_neighbours(design)}"
    yield f"Response      {study.response}, shown {study.materials.shown_to_people}"
    yield f"Exclusion     {'; '.join(rule.rule for rule in study.exclusion) or 'nobody'}"
    if study.stopping is not None:
        yield f"Stopping      {study.stopping.words}"
    yield f"Questions     {', '.join(q.name for q in study.questionnaire) or 'none'}"
    yield f"Duration      about {_describe_duration(study)} at the median"
    if terms is None:
        yield "Cost          nobody is paid: study.toml has no [recruitment]"
    else:
        costs = cost(study, [design.n_places], charge_no_fee)
        total, rewards, bonuses, hourly = (
            in_words(amount_minor, costs.currency)
            for amount_minor in (
                costs.total_minor, costs.rewards_minor, costs.bonuses_minor, costs.hourly_minor,
            )
        )  # fmt: skip
        yield (
            f"Cost          at most {total} and the platform's fee: rewards {rewards}, bonuses "
            f"{bonuses}; {hourly} an hour"
        )
    for number, line in enumerate(describe_consent(study)):
        yield f"{'' if number else _CONSENT:<{_INDENT}}{line}"
    yield ""
    yield from _tabulate_counts(built)
    yield ""
    yield from _render_examples(study, built)


def find_consent_lines(description: str) -> str:
    """Return the lines of a study's description that list the elements of its consent."""
    lines = description.splitlines()
    after_heading = dropwhile(lambda line: not line.startswith(f"{_CONSENT} "), lines)
    heading = next(after_heading, "")
    elements = takewhile(lambda line: line.startswith(" " * _INDENT), after_heading)
    return "\n".join(line[_INDENT:] for line in (heading, *elements))


def count_trials(study: Study, built: BuiltLists) -> str:
    """Return how many items of each kind, practice trials and questions a study has, in words.

    A table of items whose fillers, practice or questions were not read as such shows it here.
    """
    items_by_kind: dict[Kind, set[str]] = {kind: set() for kind in Kind}
    asked_tasks = set[str]()
    for entry in chain.from_iterable(built.lists):
        items_by_kind[entry.kind].add(entry.item.item_id)
        if question_text(entry.item):
            asked_tasks.add(entry.item.item_id)
    counts = (
        (len(items_by_kind[Kind.TARGET]), "target", "targets"),
        (len(items_by_kind[Kind.FILLER]), "filler", "fillers"),
        (len(items_by_kind[Kind.CATCH]), "catch trial", "catch trials"),
        (len(read_practice(study)), "practice trial", "practice trials"),
        (len(asked_tasks), "item with a question", "items with a question"),
    )
    return ", ".join(f"{n} {singular if n == 1 else plural}" for n, singular, plural in counts)


def _describe_duration(study: Study) -> str:
    estimate = (
        estimate_minutes(study.design.most_trials, response_of(study))
        if study.recruitment is None
        else study.recruitment.median_minutes
    )
    return "1 minute" if estimate == 1 else f"{estimate:g} minutes"


def _describe_lists(design: Design) -> str:
    numbers = range(design.n_lists)
    trials = _describe_range([design.trials(number) for number in numbers])
    places = _describe_range([design.places(number) for number in numbers])
    return f"{design.n_lists}, each with {trials} trials and {places} participants"


def _describe_range(numbers: Sequence[int]) -> str:
    smallest, largest = min(numbers), max(numbers)
    return f"{smallest}" if smallest == largest else f"{smallest} to {largest}"


def _describe_source(source: Source, design: Design, built: BuiltLists) -> str:
    numbers = [
        sum(entry.item.template in source.templates for entry in entries)
        for number, entries in enumerate(built.lists)
        if holds(source.when, design.levels(number))
    ]
    only = "".join(f", where {factor} is {level}" for factor, level in source.when.items())
    column = f', as the column "{source.column}" says' if isinstance(source, Given) else ""
    n_trials = f"{_describe_range(numbers)} trials in each list"
    return f"{', '.join(source.templates)}: {n_trials}{column}{only}"


def _describe_square(square: Square, built: BuiltLists) -> str:
    entries = [
        entry
        for entries in built.lists
        for entry in entries
        if entry.item.template in square.templates
    ]
    frames = len({(entry.item.template, entry.item.frame) for entry in entries})
    conditions = len({entry.item.condition for entry in entries})
    catch = f", {square.catch_trials} catch trials in each list" if square.catch_trials else ""
    shown = [
        list_ for list_ in built.lists if any(e.item.template in square.templates for e in list_)
    ]
    n_each = len(entries) // max(1, len(shown))
    only = "".join(f", where {factor} is {level}" for factor, level in square.when.items())
    return (
        f"{', '.join(square.templates)}: {frames} items x {conditions} "
        f"condition{'s' * (conditions != 1)}, "
        f"{n_each} trials in each list{catch}{only}"
    )


def _describe_neighbours(design: Design) -> str:
    columns = " or ".join(separate_columns(design))
    return f"two in a row are never of one {columns}" if columns else "in any order"


def _tabulate_counts(built: BuiltLists) -> list[str]:
    entries = [entry for entries in built.lists for entry in entries]
    rows = []
    for (construction, kind), number in Counter(
        (entry.item.construction, str(entry.kind)) for entry in entries
    ).items():
        counted_entries = [
            e for e in entries if (e.item.construction, e.kind) == (construction, kind)
        ]
        items = len({entry.item.item_id for entry in counted_entries})
        conditions = ", ".join(dict.fromkeys(entry.item.condition for entry in counted_entries))
        mean = f"{number / len(built.lists):g}"
        rows.append((construction, kind, items, mean, conditions))
    return text_table(_COLUMNS, rows).splitlines()


def _render_examples(study: Study, built: BuiltLists) -> Iterator[str]:
    response, rendering = response_of(study), render(study.materials.shown_to_people)
    yield f"One trial of each kind; {response.example_note}."
    entries = [entry for entries in built.lists for entry in entries]
    for entry in trial_kinds(entries, conditions=True):
        item = entry.item
        shown = response.screens(item, rendering)
        yield ""
        yield f"{item.construction}, {item.condition} ({entry.kind}, {item.item_id})"
        if shown[0].prefix:
            yield f"    {describe_pictures(shown[0].prefix)} ..."
        first, *others = (text for screen in shown for text in screen.options)
        # A single text has no other text to be preferred to, and gets no + sign.
        yield f"  {'+' if others else ' '} {first}"
        yield from (f"    {other}" for other in others)
