"""Typed answers: how many people gave each, and how much a text constrains them."""

from collections.abc import Mapping

import pandas as pd

from analysis.findings.finding import Finding, FindingInputs, Findings, full_titles
from analysis.findings.flow import FLOW
from analysis.findings.other_answers import LATE_ANSWERS
from analysis.responses.base import ResponseAnalysis
from analysis.responses.yes_no import join_answers_alone
from analysis.statistics.resample import numpy_generator
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.provenance import AskedFor
from analysis.tables.section import Section
from analysis.typed.beside_models import BESIDE_MODELS
from analysis.typed.cloze import (
    SMOOTHING_K,
    SMOOTHING_V,
    count_answers,
    count_normalisations,
    describe_texts,
)
from analysis.typed.coders import CODER_AGREEMENT
from analysis.typed.gaps import base_version, has_several_gaps, show_gap, split_gaps
from analysis.typed.halves import correlate_halves
from analysis.typed.meanings import MEANINGS
from analysis.typed.same_answers import same_answers_of
from analysis.typed.sampled import SAMPLED_ANSWERS
from experiment.materials.render import describe_pictures
from experiment.records import Variant

_SHOWN_ANSWERS = 5


def _run(inputs: FindingInputs) -> Findings:
    answers = inputs.data.judgments
    if has_several_gaps(inputs.run.study):
        answers = split_gaps(answers)
    same = same_answers_of(inputs)
    counts = count_answers(answers, same)
    texts = order_as_items(describe_texts(answers, counts), inputs.run.items)
    rules = count_normalisations(answers, same)
    tables = (
        _texts_table(texts, counts, inputs),
        rules_table(rules, inputs),
    )
    rng = numpy_generator(inputs.context.seed, "split half")
    halves = correlate_halves(answers, counts, same, rng, inputs.context.resamples)
    statistics = {"cloze": texts, "cloze_answers": counts, "normalisation": rules}
    return Findings(tables, statistics | {"cloze_halves": halves})


def _texts_table(texts: pd.DataFrame, counts: pd.DataFrame, inputs: FindingInputs) -> Table:
    rows = inputs.context.by_construction(texts)
    groups = full_titles(rows)
    shown = show_texts(rows, inputs.run.items)
    further = list_answers_after(1, counts)
    rows = rows.assign(
        group=groups,
        label=shown,
        answer=rows["answer"].fillna("").astype(str),
        further=[
            further.get(key, "") for key in zip(rows["item_id"], rows["version"], strict=True)
        ],
    )
    withheld = [Column("n_withheld", "Withheld", "count")] if rows["n_withheld"].any() else []
    return inputs.context.table(
        "cloze",
        "Typed answers",
        "The most frequent answer to each text, its cloze probability (the share of the people who "
        "saw the text) and the entropy of the answers.",
        rows,
        (
            Column("label", "Text", "text"),
            Column("condition", "Condition", "text"),
            Column("answer", "Answer", "text"),
            Column("cloze", "Cloze", "estimate"),
            Column("entropy_bits", "Entropy (bits)", "number"),
            Column("further", "Further answers", "text"),
            Column("n_people", "People", "count"),
            Column("n_no_answer", "No answer", "count"),
            *withheld,
        ),
        (
            "The interval is that of an answer named beforehand. The most frequent of several "
            "answers was partly chosen by chance, so that its share is rather too high, above all "
            "with few people. The entropy has no correction for answers that nobody gave, so that "
            "it is rather too low.",
        ),
        section=Section.ANSWERS,
    )


def order_as_items(texts: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Return rows of texts in the order of the study's items."""
    place = {str(item_id): number for number, item_id in enumerate(items["item_id"])}
    return texts.sort_values(
        "item_id", key=lambda ids: ids.astype(str).map(place), kind="stable", ignore_index=True
    )


def show_texts(rows: pd.DataFrame, items: pd.DataFrame) -> list[str]:
    """Return the text that people saw of each row's item and version, with its context."""
    by_id = items.set_index("item_id")
    return [
        show_gap(
            " ".join(
                filter(None, (_describe_context(by_id, item_id), _version(by_id, item_id, version)))
            ),
            version,
        )
        for item_id, version in zip(rows["item_id"], rows["version"], strict=True)
    ]


def _text_of(items: pd.DataFrame, item_id: str, column: str) -> str:
    return str(items.at[item_id, column]) if column in items else ""


def _describe_context(items: pd.DataFrame, item_id: str) -> str:
    return describe_pictures(_text_of(items, item_id, "context"))


def _version(items: pd.DataFrame, item_id: str, version: str) -> str:
    column = base_version(version)
    return _text_of(items, item_id, column if column in items else str(Variant.GOOD))


def list_answers_after(first: int, counts: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Return the most frequent answers to each text, with how many people gave each.

    Args:
        first: How many of the most frequent ones to leave out.
        counts: What ``count_answers`` returns.
    """
    further: dict[tuple[str, str], str] = {}
    for (item_id, version), rows in counts.groupby(["item_id", "version"], sort=False):
        later = rows.iloc[first:_SHOWN_ANSWERS]
        listed = [f"{answer} ({n})" for answer, n in zip(later["answer"], later["n"], strict=True)]
        n_left = len(rows) - first - len(later)
        further[str(item_id), str(version)] = ", ".join(
            [*listed, *([f"and {n_left} other{'s' * (n_left > 1)}"] if n_left else [])]
        )
    return further


def rules_table(rules: pd.DataFrame, inputs: FindingInputs) -> Table:
    """Return the table of how many answers each rule changed."""
    return inputs.context.table(
        "normalisation",
        "Answers counted as the same",
        "How many answers each rule changed before they were compared. The rules apply in this "
        "order; the export keeps every answer as it was typed.",
        rules.assign(group="", label=rules["rule"]),
        (
            Column("label", "Rule", "text"),
            Column("n", "Answers", "count"),
            Column("example", "Example", "text"),
        ),
        section=Section.SUPPLEMENT,
    )


def _summarise_typed(inputs: FindingInputs, statistics: Mapping[str, pd.DataFrame]) -> list[str]:
    texts = statistics["cloze"]
    n_answers, n_none = int(texts["n_people"].sum()), int(texts["n_no_answer"].sum())
    answered = texts.dropna(subset=["cloze"])
    least, most = int(texts["n_people"].min()), int(texts["n_people"].max())
    people_per_text = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    none = f"; in {n_none:,} of {n_answers:,} trials nobody gave an answer" if n_none else ""
    what = "gaps" if has_several_gaps(inputs.run.study) else "texts"
    sentences = [f"{len(texts):,} {what} were completed by {people_per_text} people each{none}."]
    if len(answered):
        best = answered.iloc[int(answered["cloze"].argmax())]
        sentences.append(
            f"The most frequent answer to a text has a cloze probability of "
            f"{answered['cloze'].mean():.2f} on average, from {answered['cloze'].min():.2f} to "
            f"{best['cloze']:.2f} (the answer {best['answer']}); the entropy is "
            f"{answered['entropy_bits'].mean():.2f} bits on average."
        )
    halves = statistics["cloze_halves"].iloc[0]
    if pd.notna(halves["halves"]):
        stepped_up = (
            "; those of two groups as large as the whole, by Spearman and Brown's formula, by "
            f"{halves['whole']:.2f}"
        )
        sentences.append(
            "The shares of the most frequent answer in two random halves of the people correlate "
            f"by r = {halves['halves']:.2f} over {what} (mean of {int(halves['n_splits']):,} "
            f"divisions){stepped_up if halves['halves'] > 0 else ''}."
        )
    return sentences


_ASKED = AskedFor(
    shown="one text",
    task="typed an answer",
    answer="completion",
    measured="shares of accepted answers",
    unit="frame",
    methods=(
        "A cloze probability is the share of the people who saw a text that gave the answer; who "
        "could not think of one counts. A person answers a text once, so that the number is "
        "binomial and the interval Wilson's (1927), with any number of people.",
        f"Smoothed probabilities are (n + k) / (N + k V) with k = {SMOOTHING_K} and V = "
        f"{SMOOTHING_V}; people's surprisal is their negative logarithm to the base 2. Good and "
        "Turing's estimate leaves a share for answers that nobody has given yet (Chao & Jost, "
        "2012).",
        "Answers are the same if they are equal after these rules, in this order: Unicode's "
        "composed form, no invisible characters, single spaces, straight apostrophes, no "
        "punctuation around the answer, no difference of case; then by a table of variants and the "
        'study\'s own steps, which "Answers counted as the same" counts.',
    ),
    decides=False,
)
TYPED_ANSWERS = Finding("typed_answers", Section.ANSWERS, _run)
TYPED_ANALYSIS = ResponseAnalysis(
    "typed",
    _ASKED,
    join_answers_alone,
    _summarise_typed,
    (TYPED_ANSWERS, CODER_AGREEMENT, BESIDE_MODELS, SAMPLED_ANSWERS, MEANINGS, FLOW, LATE_ANSWERS),
)
