"""A model's opinion on the category of each different typed answer, for coders' third opinion.

The model reads the study's question, its categories by number, its training answers, and one answer
with its text, as coders do; it reads neither participants nor conditions nor people's codes. The
category is the number with the highest probability after the prompt.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from analysis.data.load import ExportedRun
from analysis.errors import AnalysisError
from analysis.typed.analysis import show_texts
from analysis.typed.fluency import split_entries
from analysis.typed.gaps import base_version, gap_number, has_several_gaps, split_gaps
from experiment.coding.categories import Coding
from experiment.coding.normalise import normalise
from experiment.records import Kind
from experiment.responses.registry import known_response
from experiment.responses.typed.fluency import Fluency
from lm.scorer import Scorer

COLUMNS = ("item_id", "version", "gap", "typed", "category", "probability", "model")
_KEY = ["item_id", "version", "answer"]


@dataclass(frozen=True, slots=True)
class AnswerToCode:
    """A different answer, which coders code once.

    Attributes:
        item_id: The item; empty if coders see no texts.
        version: The version of its text; empty if coders see no texts.
        gap: The gap's number, from 1; 1 if coders see no texts.
        text: The text that it answers, as people saw it; empty if coders see no texts.
        typed: The answer, as it was first typed.
    """

    item_id: str
    version: str
    gap: int
    text: str
    typed: str


def get_coding(run: ExportedRun) -> Coding:
    """Return how the answers of a run are coded.

    Raises:
        AnalysisError: Its study declares no categories.
    """
    if run.study.coding is None:
        raise AnalysisError(
            "the study declares no categories, so answers cannot be coded",
            where=str(run.folder),
            expected="[coding] with a question and categories (docs/coding.md)",
        )
    return run.study.coding


def list_answers_to_code(run: ExportedRun) -> list[AnswerToCode]:
    """Return the different answers that people code: not those to catch trials or on the lists."""
    coding = get_coding(run)
    listed = {normalise(text) for category in coding.categories for text in category.answers}
    is_catch = run.items["kind"].astype(str) == Kind.CATCH
    caught = set(run.items.loc[is_catch, "item_id"].astype(str))
    rows = run.responses.astype({"item_id": str, "version": str})
    if has_several_gaps(run.study):
        rows = split_gaps(rows)
    elif isinstance(known_response(run.study), Fluency):
        rows = split_entries(rows)
    typed = rows["typed"].astype(object).fillna("").astype(str)
    rows = rows.assign(typed=typed, answer=typed.map(normalise))
    rows = rows[(rows["answer"] != "") & ~rows["answer"].isin(listed)]
    rows = rows[~rows["item_id"].isin(caught)]
    rows = rows.drop_duplicates(_KEY if coding.show_text else ["answer"])
    if not coding.show_text:
        return [AnswerToCode("", "", 1, "", typed) for typed in rows["typed"]]
    return [
        AnswerToCode(
            row["item_id"],
            base_version(row["version"]),
            gap_number(row["version"]),
            text,
            row["typed"],
        )
        for row, text in zip(rows.to_dict("records"), show_texts(rows, run.items), strict=True)
    ]


def write_prompt(coding: Coding, answer: AnswerToCode) -> str:
    """Return what a model reads before it names the number of an answer's category."""
    numbers = {name: number for number, name in enumerate(coding.names, start=1)}
    titles = [f"{numbers[category.name]}: {category.title}" for category in coding.categories]
    examples = [
        f"{_write_answer(example.text if coding.show_text else '', example.answer)} "
        f"{numbers[example.category]}"
        for example in coding.training
    ]
    asked = _write_answer(answer.text, answer.typed)
    return "\n\n".join([coding.question, "\n".join(titles), *examples, asked])


def _write_answer(text: str, typed: str) -> str:
    shown = f"Text: {text}\n" if text else ""
    return f"{shown}Answer: {' '.join(typed.split())}\nCategory:"


def code_answers(
    scorer: Scorer, coding: Coding, answers: Iterable[AnswerToCode]
) -> Iterator[tuple[object, ...]]:
    """Yield a row of ``COLUMNS`` for each answer, unless two numbers are the most probable."""
    labels = [str(number) for number in range(1, len(coding.names) + 1)]
    for answer in answers:
        prompt = write_prompt(coding, answer)
        scores = scorer.score([(prompt, label) for label in labels])
        logprobs = np.array([float(score.logprobs_nats.sum()) for score in scores])
        shares = np.exp(logprobs - np.logaddexp.reduce(logprobs))
        best = int(shares.argmax())
        if (shares == shares[best]).sum() > 1:
            continue
        yield (
            answer.item_id,
            answer.version,
            answer.gap,
            answer.typed,
            coding.names[best],
            f"{shares[best]:.4f}",
            scorer.name,
        )
