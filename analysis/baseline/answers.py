"""Answer each item of the checklist from the run or from study.toml, if possible."""

from collections.abc import Callable, Mapping

from analysis.baseline.checklist import (
    TITLES,
    Answer,
    AnsweredItem,
    answer_from_run,
    answer_from_study,
    answer_not_applicable,
    answer_unknown,
    answer_unknown_without,
)
from analysis.baseline.execution import EXECUTION_ANSWERS
from analysis.baseline.facts import Facts
from analysis.baseline.recruiting import RECRUITMENT_ANSWERS
from analysis.tables.provenance import count_noun

_NO_MODEL = "a comparison with a model: parallax compare --scores FILE"


def answer_checklist(facts: Facts) -> list[AnsweredItem]:
    """Return every item and sub-item with its answer, in the checklist's order."""
    return [
        AnsweredItem(number, title, _ANSWERERS[number](facts)) for number, title in TITLES.items()
    ]


def _require_comparison(answer: Callable[[Facts], Answer]) -> Callable[[Facts], Answer]:
    """Return an answer function that gives this answer if a model was compared, else "unknown"."""
    return lambda facts: answer(facts) if facts.compared else answer_unknown_without(_NO_MODEL)


def _answer_dataset_size(facts: Facts) -> Answer:
    if facts.baseline.dataset_items is not None:
        return answer_from_study(facts.baseline.dataset_items, "baseline.dataset_items")
    models_of_all_items = [
        model_facts for model_facts in facts.origin.models if not model_facts.facts.selection
    ]
    if not models_of_all_items:
        return answer_unknown("baseline.dataset_items")
    largest = max(models_of_all_items, key=lambda model: model.n_items)
    return answer_from_run(
        largest.n_items,
        f"{largest.facts.model} scored every item of the materials "
        f"{facts.run.facts.materials_hash[:12]}",
    )


def _answer_model_items(facts: Facts) -> Answer:
    if not facts.origin.models:
        return answer_unknown_without(_NO_MODEL)
    return answer_from_run(
        "; ".join(
            f"{model_facts.facts.model}: {model_facts.n_items}"
            for model_facts in facts.origin.models
        ),
        "the score files",
    )


@_require_comparison
def _answer_model_samples(facts: Facts) -> Answer:
    parts = [
        f"{model_facts.facts.model}: no samples, log-probabilities"
        for model_facts in facts.origin.models
    ]
    parts += [f"{model}: one answer in each way of asking" for model in facts.contexts]
    return answer_from_run("; ".join(parts), "the score files and the takers' folders")


def _answer_participants(facts: Facts) -> Answer:
    flow = facts.origin.flow
    if not flow.recruited:
        return answer_unknown_without("judgments with a column of participants")
    programs = f" {flow.simulated} of them are programs, not people." if flow.simulated else ""
    return answer_from_run(flow.kept, f"kept of {flow.recruited} who came.{programs}")


def _answer_items(facts: Facts) -> Answer:
    return answer_from_run(facts.origin.n_items, count_noun(facts.origin.n_judgments, "judgment"))


def _answer_sampling(facts: Facts) -> Answer:
    if facts.baseline.sampling_of_items:
        return answer_from_study(facts.baseline.sampling_of_items, "baseline.sampling_of_items")
    design = facts.run.study.design
    if facts.recorded and design.squares:
        return answer_from_run(
            "stratified by construction and condition: frames drawn at random, dealt to "
            f"{count_noun(design.n_lists, 'list')} by Latin squares",
            f"[[design.squares]] in study.toml, seed {facts.run.facts.seed}",
        )
    return answer_unknown("baseline.sampling_of_items")


def _answer_per_item(facts: Facts) -> Answer:
    n = facts.per_item
    return answer_from_run(_format_range(n.min(), n.median(), n.max()), "the table of responses")


def _answer_per_participant(facts: Facts) -> Answer:
    n = facts.per_participant
    if n.empty:
        return answer_unknown_without("judgments with a column of participants")
    return answer_from_run(_format_range(n.min(), n.median(), n.max()), "the table of responses")


def _format_range(low: float, median: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}, median {median:g}"


def _answer_iterative_design(facts: Facts) -> Answer:
    answer = answer_from_study(facts.baseline.iterative_design, "baseline.iterative_design")
    details = facts.baseline.iterative_design_details
    return (
        Answer(f"{answer.value}: {details}", answer.source, answer.evidence) if details else answer
    )


def _answer_minimum_effect(facts: Facts) -> Answer:
    if facts.baseline.power_analysis in ("no", "not applicable"):
        return answer_not_applicable("1.8")
    return answer_from_study(facts.baseline.minimum_effect, "baseline.minimum_effect")


def _answer_preregistration(facts: Facts) -> Answer:
    return answer_from_study(facts.publication.preregistration, "publication.preregistration")


@_require_comparison
def _answer_tested(facts: Facts) -> Answer:
    return answer_from_run("yes", "the report's table of differences between people and models")


@_require_comparison
def _answer_test(facts: Facts) -> Answer:
    return answer_from_run(
        "intervals of paired differences, Wilson's with clusters of participants and frames; two "
        "one-sided tests of equivalence; p adjusted by Holm and by Benjamini and Hochberg",
        "docs/statistics.md",
    )


@_require_comparison
def _answer_same_metric(facts: Facts) -> Answer:
    return answer_from_run("yes", f"{facts.origin.asked.measured} on the same items")


@_require_comparison
def _answer_same_criteria(facts: Facts) -> Answer:
    return answer_from_run("yes", "each item's expected version is the same for people and models")


@_require_comparison
def _answer_same_method(facts: Facts) -> Answer:
    if facts.origin.models:
        return answer_from_run(
            "partial",
            "people choose; a model's choice is the version with the higher score "
            f"({facts.origin.metric})",
        )
    return answer_from_run("yes", "models took the session and chose as people do")


def _answer_robustness(facts: Facts) -> Answer:
    if not facts.run.study.exclusion:
        return answer_not_applicable("3.2")
    if facts.robust:
        return answer_from_run("yes", "the report's section Exclusions sets every rule otherwise")
    return answer_unknown_without(
        "a comparison of choices, whose report has the section Exclusions"
    )


_ANSWERERS: Mapping[str, Callable[[Facts], Answer]] = {
    "0.1": lambda f: answer_from_study(f.publication.paper_title, "publication.paper_title"),
    "0.2": lambda f: answer_from_study(f.publication.paper_url, "publication.paper_url"),
    "0.3": lambda f: answer_from_study(f.publication.paper_year, "publication.paper_year"),
    "0.4": lambda f: answer_from_study(f.publication.paper_venue, "publication.paper_venue"),
    "0.5": lambda f: answer_from_study(f.baseline.eval_type, "baseline.eval_type"),
    "0.6": lambda f: answer_from_study(f.baseline.eval_mode, "baseline.eval_mode"),
    "0.7": lambda f: answer_from_study(f.run.study.study.language, "study.language"),
    "0.8": _answer_dataset_size,
    "0.9": _answer_model_items,
    "0.10": _answer_model_samples,
    "1.1": _answer_participants,
    "1.2": _answer_items,
    "1.2.1": _answer_sampling,
    "1.3": _answer_per_item,
    "1.4": _answer_per_participant,
    "1.5": lambda f: answer_from_study(f.baseline.adjusted_for_both, "baseline.adjusted_for_both"),
    "1.6": _answer_iterative_design,
    "1.7": lambda f: answer_from_study(f.baseline.effort_controlled, "baseline.effort_controlled"),
    "1.8": lambda f: answer_from_study(f.baseline.power_analysis, "baseline.power_analysis"),
    "1.8.1": _answer_minimum_effect,
    "1.9": lambda f: answer_from_study(f.run.study.study.ethics, "study.ethics"),
    "1.10": _answer_preregistration,
    **RECRUITMENT_ANSWERS,
    **EXECUTION_ANSWERS,
    "4.1": _answer_tested,
    "4.1.1": _answer_test,
    "4.2": lambda f: answer_from_run("yes", "95% intervals in the report's tables"),
    "4.2.1": lambda f: answer_from_run("point estimate, interval estimate", "the report's tables"),
    "4.3": _answer_same_metric,
    "4.4": _answer_same_criteria,
    "4.5": _answer_same_method,
    "4.6": _answer_robustness,
}
