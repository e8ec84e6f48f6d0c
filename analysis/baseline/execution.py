"""Answer sections 3 and 5 of the checklist: execution of the study, reporting, availability."""

from collections.abc import Callable, Mapping

import pandas as pd

from analysis.baseline.checklist import (
    Answer,
    answer_from_run,
    answer_from_study,
    answer_not_applicable,
    answer_unknown,
    answer_unknown_without,
)
from analysis.baseline.facts import Facts
from experiment.exclusion.rules import reason, rule_in_words

_NO_MODEL = "a comparison with a model: parallax compare --scores FILE"
# Answers given by fewer participants are pooled, since they could identify someone.
FEWEST_PEOPLE = 5


def _answer_session_length(facts: Facts) -> Answer:
    trials = facts.run.trials
    n = trials.groupby("participant", observed=True).size()
    if n.empty:
        return answer_unknown_without("the table of trials")
    text = f"{n.min()}" if n.min() == n.max() else f"{n.min()} to {n.max()}"
    return answer_from_run(text, "trials of each session, in the table of trials")


def _answer_order(facts: Facts) -> Answer:
    """Report whether participants with the same items saw them in different orders."""
    trials = facts.run.trials.sort_values(["participant", "position"], kind="stable")
    by_person = trials.groupby("participant", observed=True)["item_id"]
    orders = by_person.agg(lambda ids: "\n".join(map(str, ids)))
    sets = by_person.agg(lambda ids: "\n".join(sorted(map(str, ids))))
    groups = orders.groupby(sets)
    shared = int((groups.size() > 1).sum())
    if not shared:
        return answer_unknown_without("two participants with the same items")
    n_differing = int((groups.nunique()[groups.size() > 1] > 1).sum())
    return answer_from_run(
        "yes" if n_differing else "no",
        f"{n_differing} of {shared} sets of items were shown in more than one order",
    )


def _answer_quality_control(facts: Facts) -> Answer:
    study = facts.run.study
    if study.exclusion or study.attention:
        return answer_from_run("yes", "[[exclusion]] and [attention] in study.toml, as launched")
    if not facts.recorded:
        return answer_unknown("exclusion")
    return answer_from_run("no", "the study has no exclusion rule and no attention check")


def _answer_criteria(facts: Facts) -> Answer:
    study = facts.run.study
    criteria = [rule_in_words(rule.model_dump()) for rule in study.exclusion]
    if study.attention:
        criteria.append(f"at most {study.attention.max_catch_errors} errors on catch trials")
    if criteria:
        return answer_from_run("; ".join(criteria), "[[exclusion]] and [attention] in study.toml")
    return answer_not_applicable("3.2") if facts.recorded else answer_unknown("exclusion")


def _answer_exclusions(facts: Facts) -> Answer:
    flow = facts.origin.flow
    number = sum(flow.excluded.values())
    by_rule = ", ".join(f"{count} for {reason(rule)}" for rule, count in flow.excluded.items())
    evidence = f"the table of verdicts{f': {by_rule}' if by_rule else ''}"
    return answer_from_run(f"{number} of {number + flow.kept} participants", evidence)


def _answer_interface(facts: Facts) -> Answer:
    if facts.baseline.same_interface is not None:
        return answer_from_study(facts.baseline.same_interface, "baseline.same_interface")
    if not facts.compared or not facts.recorded:
        return answer_unknown("baseline.same_interface")
    return answer_from_run("no", "people answered in a browser, models were given texts")


def _answer_graphical_interface(facts: Facts) -> Answer:
    if not facts.compared or not facts.recorded:
        return answer_unknown("baseline.same_interface")
    return answer_from_run("yes", "people answered in a browser, models were given texts")


def _answer_interface_adjusted(facts: Facts) -> Answer:
    if _answer_interface(facts).value == "yes":
        return answer_not_applicable("3.3")
    return answer_from_study(facts.baseline.interface_adjusted, "baseline.interface_adjusted")


def _answer_instructions(facts: Facts) -> Answer:
    if not facts.compared:
        return answer_unknown_without(_NO_MODEL)
    if facts.origin.models:
        return answer_from_run("no", "models that score texts are given no instructions")
    contexts_given = sorted(
        {context for contexts in facts.contexts.values() for context in contexts}
    )
    return answer_from_run(
        "partial", f"before each trial models were given: {', '.join(contexts_given) or 'none'}"
    )


def _answer_instructions_adjusted(facts: Facts) -> Answer:
    if _answer_instructions(facts).value == "yes":
        return answer_not_applicable("3.4")
    return answer_from_study(facts.baseline.instructions_adjusted, "baseline.instructions_adjusted")


def _answer_explanations(facts: Facts) -> Answer:
    texts = [question.name for question in facts.run.study.questionnaire if not question.closed]
    if not facts.recorded:
        return answer_unknown_without("the run's questionnaire")
    if texts:
        return answer_from_run("partial", f"free text after the session: {', '.join(texts)}")
    return answer_from_run("no", "trials and questionnaire ask for no explanation")


def _answer_demographics(facts: Facts) -> Answer:
    closed = [question.name for question in facts.run.study.questionnaire if question.closed]
    answers = facts.run.answers
    if answers is None or not closed:
        return answer_unknown("questionnaire")
    closed_answers = answers[
        answers["participant"].isin(facts.kept) & answers["field"].isin(closed)
    ]
    if closed_answers.empty:
        return answer_unknown("questionnaire")
    return answer_from_run(
        "yes", "; ".join(_count_answers(name, closed_answers) for name in closed)
    )


def _count_answers(name: str, closed_answers: pd.DataFrame) -> str:
    counts = closed_answers.loc[closed_answers["field"] == name, "value"].value_counts()
    counts = counts.sort_index()
    frequent_answers, rare_answers = counts[counts >= FEWEST_PEOPLE], counts[counts < FEWEST_PEOPLE]
    parts = [f"{value} {n}" for value, n in frequent_answers.items()]
    if len(rare_answers):
        parts.append(
            f"other answers, each of fewer than {FEWEST_PEOPLE} people, {rare_answers.sum()}"
        )
    return f"{name}: {', '.join(parts) or 'no answer'}"


def _answer_times(facts: Facts) -> Answer:
    responses, people = facts.run.responses, facts.run.responses["participant"]
    # Published responses may come without the participants who gave them.
    times = responses.loc[people.isin(facts.kept) | people.isna(), "rt_ms"].dropna()
    if times.empty and facts.minutes is None:
        return answer_unknown_without("reaction times in the table of responses")
    parts = [] if times.empty else [f"median answer {times.median() / 1000:.2f} s"]
    if facts.minutes is not None:
        parts.append(f"median session {facts.minutes:.1f} min")
    return answer_from_run("yes", ", ".join(parts))


def _answer_completion(facts: Facts) -> Answer:
    flow = facts.origin.flow
    if flow.finished is None:
        return answer_unknown_without("a run of Parallax, which records who did not finish")
    return answer_from_run(
        "yes",
        f"{flow.recruited} opened the study, {flow.consented} consented, {flow.finished} finished",
    )


def _answer_data_availability(facts: Facts) -> Answer:
    if facts.publication.data_url or facts.publication.doi:
        address = facts.publication.data_url or f"https://doi.org/{facts.publication.doi}"
        return answer_from_study(f"yes: {address}", "publication.data_url or publication.doi")
    if facts.baseline.no_data_because:
        return answer_from_study("no", "baseline.no_data_because")
    return answer_unknown("publication.data_url")


def _answer_individual_data(facts: Facts) -> Answer:
    if not _answer_data_availability(facts).value.startswith("yes"):
        return answer_not_applicable("5.2") if facts.baseline.no_data_because else answer_unknown(
            "publication.data_url"
        )  # fmt: skip
    has_participants = facts.run.responses["participant"].notna().any()
    return answer_from_run(
        "yes" if has_participants else "no", "the column participant of the table of responses"
    )


EXECUTION_ANSWERS: Mapping[str, Callable[[Facts], Answer]] = {
    "3.1": _answer_session_length,
    "3.1.1": _answer_order,
    "3.2": _answer_quality_control,
    "3.2.1": _answer_criteria,
    "3.2.2": _answer_exclusions,
    "3.3": _answer_interface,
    "3.3.1": _answer_graphical_interface,
    "3.3.2": _answer_interface_adjusted,
    "3.4": _answer_instructions,
    "3.4.1": _answer_instructions_adjusted,
    "3.5": lambda f: answer_from_study(f.baseline.same_tools, "baseline.same_tools"),
    "3.5.1": lambda f: answer_from_study(f.baseline.tools_enforced, "baseline.tools_enforced"),
    "3.6": _answer_explanations,
    "5.1": lambda f: answer_from_run("see its sub-items", "they are answered one by one"),
    "5.1.1": _answer_demographics,
    "5.1.2": lambda f: (
        answer_from_run("yes", "the instructions are given below")
        if f.recorded
        else answer_unknown_without("a run of Parallax, whose instructions are known")
    ),
    "5.1.3": _answer_times,
    "5.1.4": lambda f: answer_from_study(f.baseline.ai_tools, "baseline.ai_tools"),
    "5.1.5": _answer_completion,
    "5.2": _answer_data_availability,
    "5.2.1": _answer_individual_data,
    "5.2.2": lambda f: (
        answer_not_applicable("5.2")
        if _answer_data_availability(f).value.startswith("yes")
        else answer_from_study(f.baseline.no_data_because, "baseline.no_data_because")
    ),
    "5.3": lambda f: answer_from_study(f.publication.materials_url, "publication.materials_url"),
    "5.4": lambda f: answer_from_study(f.publication.code_url, "publication.code_url"),
}
