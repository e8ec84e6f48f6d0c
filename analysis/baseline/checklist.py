"""The checklist for human baselines by Wei et al. (2025): its items by number, paraphrased.

Wei, K. L. et al. (2025). Recommendations and reporting checklist for rigorous and transparent human
baselines in model evaluations. ICML 2025. The numbers are those of ``reporting_checklist.tex`` in
github.com/kevinlwei/human-baselines; section 0 is about the paper, sections 1 to 5 hold 33 items.
"""

from dataclasses import dataclass
from typing import Literal

SECTIONS = {
    "0": "Paper",
    "1": "Design and implementation",
    "2": "Recruitment",
    "3": "Execution",
    "4": "Analysis",
    "5": "Documentation",
}
Source = Literal["run", "study.toml", "unknown"]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a checklist item.

    Attributes:
        value: The answer; empty if unknown.
        source: The source of the answer.
        evidence: The basis of the answer in the run or in study.toml; for an unknown answer, the
            information that would be needed.
    """

    value: str
    source: Source
    evidence: str


@dataclass(frozen=True, slots=True)
class AnsweredItem:
    """A checklist item with its answer."""

    number: str
    title: str
    answer: Answer

    @property
    def section(self) -> str:
        """The title of the item's section."""
        return SECTIONS[self.number[0]]


# Every numbered item and sub-item, in the checklist's order.
TITLES = {
    "0.1": "Paper title",
    "0.2": "Paper link",
    "0.3": "Year of publication",
    "0.4": "Venue",
    "0.5": "Type of evaluation",
    "0.6": "Mode of evaluation",
    "0.7": "Language of evaluation",
    "0.8": "Items of the evaluation data set",
    "0.9": "Items that models were tested on",
    "0.10": "Answers of a model to each item",
    "1.1": "Number of participants",
    "1.2": "Items of the human baseline",
    "1.2.1": "How these were sampled",
    "1.3": "Human answers to each item",
    "1.4": "Items of each participant",
    "1.5": "Adjusted for both people and models",
    "1.6": "Iterative design",
    "1.7": "Amount of effort controlled",
    "1.8": "Power analysis",
    "1.8.1": "Smallest detectable effect",
    "1.9": "Ethics review",
    "1.10": "Preregistration",
    "2.1": "Population of interest named",
    "2.1.1": "By what it is delimited",
    "2.2": "How participants were sampled",
    "2.3": "Quality control in recruitment",
    "2.3.1": "Criteria",
    "2.3.2": "Excluded by them",
    "2.4": "Authors as participants",
    "2.5": "People who knew the items kept out",
    "2.6": "Training",
    "2.6.1": "Kind of training",
    "2.6.2": "Training paid",
    "2.6.2.1": "Pay for the training",
    "2.7": "Pay for the baseline",
    "2.7.1": "Amount",
    "2.7.2": "Bonus for performance",
    "2.7.2.1": "Amount of the bonus",
    "2.7.3": "Pay the same for all",
    "2.7.3.1": "How it differed",
    "3.1": "Items in one sitting",
    "3.1.1": "Order randomised",
    "3.2": "Quality control in execution",
    "3.2.1": "Criteria",
    "3.2.2": "Excluded by them",
    "3.3": "Same interface for people and models",
    "3.3.1": "Graphical for people, programmatic for models",
    "3.3.2": "Difference adjusted for",
    "3.4": "Same instructions for people and models",
    "3.4.1": "Difference adjusted for",
    "3.5": "Same tools for people and models",
    "3.5.1": "Enforced",
    "3.6": "Explanations collected",
    "4.1": "Difference tested for significance",
    "4.1.1": "Test",
    "4.2": "Uncertainty shown",
    "4.2.1": "Kind of estimate",
    "4.3": "Same metric for people and models",
    "4.4": "Same criteria of scoring",
    "4.5": "Same method of scoring",
    "4.6": "Robust to the exclusion criteria",
    "5.1": "Further reporting",
    "5.1.1": "Demographics of the sample",
    "5.1.2": "Instructions",
    "5.1.3": "Time to completion",
    "5.1.4": "AI tools of participants, with versions",
    "5.1.5": "Completion",
    "5.2": "Data available",
    "5.2.1": "At the level of participants",
    "5.2.2": "Why not, where they are not",
    "5.3": "Materials available",
    "5.4": "Analysis code available",
}


def answer_from_run(value: object, evidence: str) -> Answer:
    """Return an answer taken from the run itself."""
    return Answer(str(value), "run", evidence)


def answer_unknown(key: str) -> Answer:
    """Return "unknown", with the key of study.toml that would answer the item."""
    is_answered_later = key.startswith(("publication.", "baseline."))
    return Answer(
        "",
        "unknown",
        f"`{key}` in study.toml{', or in a file for --about' if is_answered_later else ''}",
    )


def answer_unknown_without(missing: str) -> Answer:
    """Return "unknown", with a description of the missing information."""
    return Answer("", "unknown", missing)


def answer_from_study(value: object, key: str) -> Answer:
    """Return the value that study.toml declares under a key; "unknown" if the key is not set."""
    if value is None or value == "" or value == ():
        return answer_unknown(key)
    text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return Answer(text, "study.toml", f"`{key}`")


def answer_not_applicable(number: str) -> Answer:
    """Return "not applicable", because another item was answered with no."""
    return Answer("not applicable", "run", f"see {number}")
