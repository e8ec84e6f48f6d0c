"""The report's words on the design: its lists, what a trial showed, and who was excluded why."""

import re
from collections.abc import Sequence

from analysis.data.participant_flow import Flow
from analysis.tables.provenance import KINDS_IN_WORDS, count_noun
from experiment.exclusion.rules import reason
from experiment.responses.registry import response_of
from experiment.studies.design import Design
from experiment.studies.study import Study


def describe_lists(design: Design) -> str:
    """Return a sentence about the lists; quotas may make some of them smaller."""
    numbers = range(design.n_lists)
    trials, places = map(design.trials, numbers), map(design.places, numbers)
    return (
        f"The study has {count_noun(design.n_lists, 'list')} of "
        f"{_format_range(sorted({*trials}), 'trial')} "
        f"with {_format_range(sorted({*places}), 'participant')} per list."
    )


def _format_range(numbers: Sequence[int], noun: str) -> str:
    lower_bound = f"{numbers[0]:,} to " if len(numbers) > 1 else ""
    return lower_bound + count_noun(numbers[-1], noun)


def fill_in(words: str, study: Study) -> str:
    """Return what a trial showed or asked, with the settings of the study's type of response."""
    if "{" not in words:
        return words
    response = response_of(study, own_code=False)
    by = str(getattr(response, "by", "word"))
    steps = "as a whole" if by == "sentence" else f"{by} by {by}"
    return words.replace("{steps}", steps).replace("{points}", str(response.n_answers))


def describe_reason(study: Study, name: str) -> str:
    """Return a rule's reason to exclude, with the kinds of trials if all such rules name them."""
    kinds = [rule.model_dump().get("kind") or () for rule in study.exclusion if rule.rule == name]
    if not kinds or not all(kinds):
        return reason(name)
    named = {
        str(kind)
        for of_rule in kinds
        for kind in ([of_rule] if isinstance(of_rule, str) else of_rule)
    }
    return f"{reason(name)} on {' and '.join(KINDS_IN_WORDS[kind] for kind in sorted(named))}"


def name_participants(sentence: str, study: Study, flow: Flow) -> str:
    """Return a sentence that says "simulated participants" for people, if all of them are.

    The name of a comparison is the researcher's, and stays.
    """
    if not flow.kept or flow.simulated < flow.kept:
        return sentence
    names = (comparison.name for comparison in study.comparisons)
    name = next((name for name in names if sentence.startswith(f"{name}: ")), "")
    words = re.sub(r"\b([Pp]eople)'s\b", r"\1'", sentence.removeprefix(name))
    words = re.sub(r"\bpeople\b", "simulated participants", words)
    return name + re.sub(r"\bPeople\b", "Simulated participants", words)
