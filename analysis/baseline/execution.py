"""Answer sections 3 and 5 of the checklist: execution of the study, reporting, availability."""

from collections.abc import Callable, Mapping

import pandas as pd

from analysis.baseline.checklist import (
    Answer,
    declared,
    from_run,
    not_asked,
    unknown,
    unknown_without,
)
from analysis.baseline.facts import Facts
from experiment.exclusion.rules import reason, rule_in_words

_NO_MODEL = "a comparison with a model: parallax compare --scores FILE"
# Answers given by fewer participants are pooled, since they could identify someone.
FEWEST_PEOPLE = 5


def _length(facts: Facts) -> Answer:
    trials = facts.run.trials
    n = trials.groupby("participant", observed=True).size()
    if n.empty:
        return unknown_without("the table of trials")
    text = f"{n.min()}" if n.min() == n.max() else f"{n.min()} to {n.max()}"
    return from_run(text, "trials of each session, in the table of trials")


def _ordered(facts: Facts) -> Answer:
    """Report whether participants with the same items saw them in different orders."""
    trials = facts.run.trials.sort_values(["participant", "position"], kind="stable")
    by_person = trials.groupby("participant", observed=True)["item_id"]
    orders = by_person.agg(lambda ids: "\n".join(map(str, ids)))
    sets = by_person.agg(lambda ids: "\n".join(sorted(map(str, ids))))
    groups = orders.groupby(sets)
    shared = int((groups.size() > 1).sum())
    if not shared:
        return unknown_without("two participants with the same items")
    differing = int((groups.nunique()[groups.size() > 1] > 1).sum())
    return from_run(
        "yes" if differing else "no",
        f"{differing} of {shared} sets of items were shown in more than one order",
    )


def _controlled(facts: Facts) -> Answer:
    study = facts.run.study
    if study.exclusion or study.attention:
        return from_run("yes", "[[exclusion]] and [attention] in study.toml, as launched")
    if not facts.recorded:
        return unknown("exclusion")
    return from_run("no", "the study has no exclusion rule and no attention check")


def _criteria(facts: Facts) -> Answer:
    study = facts.run.study
    found = [rule_in_words(rule.model_dump()) for rule in study.exclusion]
    if study.attention:
        found.append(f"at most {study.attention.max_catch_errors} errors on catch trials")
    if found:
        return from_run("; ".join(found), "[[exclusion]] and [attention] in study.toml")
    return not_asked("3.2") if facts.recorded else unknown("exclusion")


def _excluded(facts: Facts) -> Answer:
    flow = facts.origin.flow
    number = sum(flow.excluded.values())
    which = ", ".join(f"{count} for {reason(rule)}" for rule, count in flow.excluded.items())
    evidence = f"the table of verdicts{f': {which}' if which else ''}"
    return from_run(f"{number} of {number + flow.kept} participants", evidence)


def _interface(facts: Facts) -> Answer:
    if facts.baseline.same_interface is not None:
        return declared(facts.baseline.same_interface, "baseline.same_interface")
    if not facts.compared or not facts.recorded:
        return unknown("baseline.same_interface")
    return from_run("no", "people answered in a browser, models were given texts")


def _graphical(facts: Facts) -> Answer:
    if not facts.compared or not facts.recorded:
        return unknown("baseline.same_interface")
    return from_run("yes", "people answered in a browser, models were given texts")


def _interface_adjusted(facts: Facts) -> Answer:
    if _interface(facts).value == "yes":
        return not_asked("3.3")
    return declared(facts.baseline.interface_adjusted, "baseline.interface_adjusted")


def _instructions(facts: Facts) -> Answer:
    if not facts.compared:
        return unknown_without(_NO_MODEL)
    if facts.origin.models:
        return from_run("no", "models that score texts are given no instructions")
    given = sorted({context for contexts in facts.contexts.values() for context in contexts})
    return from_run("partial", f"before each trial models were given: {', '.join(given) or 'none'}")


def _instructions_adjusted(facts: Facts) -> Answer:
    if _instructions(facts).value == "yes":
        return not_asked("3.4")
    return declared(facts.baseline.instructions_adjusted, "baseline.instructions_adjusted")


def _explained(facts: Facts) -> Answer:
    texts = [question.name for question in facts.run.study.questionnaire if not question.closed]
    if not facts.recorded:
        return unknown_without("the run's questionnaire")
    if texts:
        return from_run("partial", f"free text after the session: {', '.join(texts)}")
    return from_run("no", "trials and questionnaire ask for no explanation")


def _demographics(facts: Facts) -> Answer:
    closed = [question.name for question in facts.run.study.questionnaire if question.closed]
    answers = facts.run.answers
    if answers is None or not closed:
        return unknown("questionnaire")
    given = answers[answers["participant"].isin(facts.kept) & answers["field"].isin(closed)]
    if given.empty:
        return unknown("questionnaire")
    return from_run("yes", "; ".join(_shares(name, given) for name in closed))


def _shares(name: str, given: pd.DataFrame) -> str:
    counts = given.loc[given["field"] == name, "value"].value_counts()
    counts = counts.sort_index()
    often, rare = counts[counts >= FEWEST_PEOPLE], counts[counts < FEWEST_PEOPLE]
    parts = [f"{value} {n}" for value, n in often.items()]
    if len(rare):
        parts.append(f"other answers, each of fewer than {FEWEST_PEOPLE} people, {rare.sum()}")
    return f"{name}: {', '.join(parts) or 'no answer'}"


def _time(facts: Facts) -> Answer:
    responses, people = facts.run.responses, facts.run.responses["participant"]
    # Published responses may come without the participants who gave them.
    times = responses.loc[people.isin(facts.kept) | people.isna(), "rt_ms"].dropna()
    if times.empty and facts.minutes is None:
        return unknown_without("reaction times in the table of responses")
    parts = [] if times.empty else [f"median answer {times.median() / 1000:.2f} s"]
    if facts.minutes is not None:
        parts.append(f"median session {facts.minutes:.1f} min")
    return from_run("yes", ", ".join(parts))


def _completed(facts: Facts) -> Answer:
    flow = facts.origin.flow
    if flow.finished is None:
        return unknown_without("a run of Parallax, which records who did not finish")
    return from_run(
        "yes",
        f"{flow.recruited} opened the study, {flow.consented} consented, {flow.finished} finished",
    )


def _available(facts: Facts) -> Answer:
    if facts.publication.data_url or facts.publication.doi:
        where = facts.publication.data_url or f"https://doi.org/{facts.publication.doi}"
        return declared(f"yes: {where}", "publication.data_url or publication.doi")
    if facts.baseline.no_data_because:
        return declared("no", "baseline.no_data_because")
    return unknown("publication.data_url")


def _individual(facts: Facts) -> Answer:
    if not _available(facts).value.startswith("yes"):
        return not_asked("5.2") if facts.baseline.no_data_because else unknown(
            "publication.data_url"
        )  # fmt: skip
    known = facts.run.responses["participant"].notna().any()
    return from_run("yes" if known else "no", "the column participant of the table of responses")


EXECUTION: Mapping[str, Callable[[Facts], Answer]] = {
    "3.1": _length,
    "3.1.1": _ordered,
    "3.2": _controlled,
    "3.2.1": _criteria,
    "3.2.2": _excluded,
    "3.3": _interface,
    "3.3.1": _graphical,
    "3.3.2": _interface_adjusted,
    "3.4": _instructions,
    "3.4.1": _instructions_adjusted,
    "3.5": lambda f: declared(f.baseline.same_tools, "baseline.same_tools"),
    "3.5.1": lambda f: declared(f.baseline.tools_enforced, "baseline.tools_enforced"),
    "3.6": _explained,
    "5.1": lambda f: from_run("see its sub-items", "they are answered one by one"),
    "5.1.1": _demographics,
    "5.1.2": lambda f: (
        from_run("yes", "the instructions stand below")
        if f.recorded
        else unknown_without("a run of Parallax, whose instructions are known")
    ),
    "5.1.3": _time,
    "5.1.4": lambda f: declared(f.baseline.ai_tools, "baseline.ai_tools"),
    "5.1.5": _completed,
    "5.2": _available,
    "5.2.1": _individual,
    "5.2.2": lambda f: (
        not_asked("5.2")
        if _available(f).value.startswith("yes")
        else declared(f.baseline.no_data_because, "baseline.no_data_because")
    ),
    "5.3": lambda f: declared(f.publication.materials_url, "publication.materials_url"),
    "5.4": lambda f: declared(f.publication.code_url, "publication.code_url"),
}
