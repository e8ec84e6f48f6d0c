"""Answer each item of the checklist from the run or from study.toml, if possible."""

from collections.abc import Callable, Mapping

from analysis.baseline.checklist import (
    TITLES,
    Answer,
    AnsweredItem,
    declared,
    from_run,
    not_asked,
    unknown,
    unknown_without,
)
from analysis.baseline.execution import EXECUTION
from analysis.baseline.facts import Facts
from analysis.baseline.recruiting import RECRUITING
from analysis.tables.provenance import counted

_NO_MODEL = "a comparison with a model: parallax compare --scores FILE"


def answered(facts: Facts) -> list[AnsweredItem]:
    """Return every item and sub-item with its answer, in the checklist's order."""
    return [
        AnsweredItem(number, title, _ANSWERS[number](facts)) for number, title in TITLES.items()
    ]


def _of_a_comparison(answer: Callable[[Facts], Answer]) -> Callable[[Facts], Answer]:
    """Return an answer function that gives this answer if a model was compared, else "unknown"."""
    return lambda facts: answer(facts) if facts.compared else unknown_without(_NO_MODEL)


def _dataset_size(facts: Facts) -> Answer:
    if facts.baseline.dataset_items is not None:
        return declared(facts.baseline.dataset_items, "baseline.dataset_items")
    whole = [model_facts for model_facts in facts.origin.models if not model_facts.facts.selection]
    if not whole:
        return unknown("baseline.dataset_items")
    largest = max(whole, key=lambda one: one.n_items)
    return from_run(
        largest.n_items,
        f"{largest.facts.model} scored every item of the materials "
        f"{facts.run.facts.materials_hash[:12]}",
    )


def _model_items(facts: Facts) -> Answer:
    if not facts.origin.models:
        return unknown_without(_NO_MODEL)
    return from_run(
        "; ".join(
            f"{model_facts.facts.model}: {model_facts.n_items}"
            for model_facts in facts.origin.models
        ),
        "the score files",
    )


@_of_a_comparison
def _model_samples(facts: Facts) -> Answer:
    parts = [
        f"{model_facts.facts.model}: no samples, log-probabilities"
        for model_facts in facts.origin.models
    ]
    parts += [f"{model}: one answer in each way of asking" for model in facts.contexts]
    return from_run("; ".join(parts), "the score files and the takers' folders")


def _participants(facts: Facts) -> Answer:
    flow = facts.origin.flow
    if not flow.recruited:
        return unknown_without("judgments with a column of participants")
    programs = f" {flow.simulated} of them are programs, not people." if flow.simulated else ""
    return from_run(flow.kept, f"kept of {flow.recruited} who came.{programs}")


def _items(facts: Facts) -> Answer:
    return from_run(facts.origin.n_items, counted(facts.origin.n_judgments, "judgment"))


def _sampling(facts: Facts) -> Answer:
    if facts.baseline.sampling_of_items:
        return declared(facts.baseline.sampling_of_items, "baseline.sampling_of_items")
    design = facts.run.study.design
    if facts.recorded and design.squares:
        return from_run(
            "stratified by construction and condition: frames drawn at random, dealt to "
            f"{counted(design.n_lists, 'list')} by Latin squares",
            f"[[design.squares]] in study.toml, seed {facts.run.facts.seed}",
        )
    return unknown("baseline.sampling_of_items")


def _per_item(facts: Facts) -> Answer:
    n = facts.per_item
    return from_run(_range(n.min(), n.median(), n.max()), "the table of responses")


def _per_participant(facts: Facts) -> Answer:
    n = facts.per_participant
    if n.empty:
        return unknown_without("judgments with a column of participants")
    return from_run(_range(n.min(), n.median(), n.max()), "the table of responses")


def _range(low: float, median: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}, median {median:g}"


def _iterative(facts: Facts) -> Answer:
    found = declared(facts.baseline.iterative_design, "baseline.iterative_design")
    details = facts.baseline.iterative_design_details
    return Answer(f"{found.value}: {details}", found.source, found.evidence) if details else found


def _minimum_effect(facts: Facts) -> Answer:
    if facts.baseline.power_analysis in ("no", "not applicable"):
        return not_asked("1.8")
    return declared(facts.baseline.minimum_effect, "baseline.minimum_effect")


def _preregistered(facts: Facts) -> Answer:
    return declared(facts.publication.preregistration, "publication.preregistration")


@_of_a_comparison
def _tested(facts: Facts) -> Answer:
    return from_run("yes", "the report's table of differences between people and models")


@_of_a_comparison
def _test(facts: Facts) -> Answer:
    return from_run(
        "intervals of paired differences, Wilson's with clusters of participants and frames; two "
        "one-sided tests of equivalence; p adjusted by Holm and by Benjamini and Hochberg",
        "docs/statistics.md",
    )


@_of_a_comparison
def _same_metric(facts: Facts) -> Answer:
    return from_run("yes", f"{facts.origin.asked.measured} on the same items")


@_of_a_comparison
def _same_criteria(facts: Facts) -> Answer:
    return from_run("yes", "each item's expected version is one for people and models")


@_of_a_comparison
def _same_method(facts: Facts) -> Answer:
    if facts.origin.models:
        return from_run(
            "partial",
            "people choose; a model's choice is the version with the higher score "
            f"({facts.origin.metric})",
        )
    return from_run("yes", "models took the session and chose as people do")


def _robust(facts: Facts) -> Answer:
    if not facts.run.study.exclusion:
        return not_asked("3.2")
    if facts.robust:
        return from_run("yes", "the report's section Exclusions sets every rule otherwise")
    return unknown_without("a comparison of choices, whose report has the section Exclusions")


_ANSWERS: Mapping[str, Callable[[Facts], Answer]] = {
    "0.1": lambda f: declared(f.publication.paper_title, "publication.paper_title"),
    "0.2": lambda f: declared(f.publication.paper_url, "publication.paper_url"),
    "0.3": lambda f: declared(f.publication.paper_year, "publication.paper_year"),
    "0.4": lambda f: declared(f.publication.paper_venue, "publication.paper_venue"),
    "0.5": lambda f: declared(f.baseline.eval_type, "baseline.eval_type"),
    "0.6": lambda f: declared(f.baseline.eval_mode, "baseline.eval_mode"),
    "0.7": lambda f: declared(f.run.study.study.language, "study.language"),
    "0.8": _dataset_size,
    "0.9": _model_items,
    "0.10": _model_samples,
    "1.1": _participants,
    "1.2": _items,
    "1.2.1": _sampling,
    "1.3": _per_item,
    "1.4": _per_participant,
    "1.5": lambda f: declared(f.baseline.adjusted_for_both, "baseline.adjusted_for_both"),
    "1.6": _iterative,
    "1.7": lambda f: declared(f.baseline.effort_controlled, "baseline.effort_controlled"),
    "1.8": lambda f: declared(f.baseline.power_analysis, "baseline.power_analysis"),
    "1.8.1": _minimum_effect,
    "1.9": lambda f: declared(f.run.study.study.ethics, "study.ethics"),
    "1.10": _preregistered,
    **RECRUITING,
    **EXECUTION,
    "4.1": _tested,
    "4.1.1": _test,
    "4.2": lambda f: from_run("yes", "95% intervals in the report's tables"),
    "4.2.1": lambda f: from_run("point estimate, interval estimate", "the report's tables"),
    "4.3": _same_metric,
    "4.4": _same_criteria,
    "4.5": _same_method,
    "4.6": _robust,
}
