"""The finding that compares the meanings of people's answers with those of models' answers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import t

from analysis.findings.finding import Finding, FindingInputs, Findings, Need
from analysis.statistics.resample import LEVEL
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section
from analysis.typed.cloze import list_answers
from analysis.typed.embeddings import Embedding
from analysis.typed.energy_distance import (
    Floats,
    Sample,
    list_by_person,
    measure_distances,
    measure_sample,
)
from analysis.typed.model_distance import FEWEST_PEOPLE, jackknife_error, model_shares
from analysis.typed.same_answers import same_answers_of

_TEXT_KEYS = ["item_id", "version"]
# Of fewer, leaving one out leaves no two to compare.
_FEWEST_ANSWERING = 3
_DISTRIBUTION, _SESSIONS = "distribution", "sessions"
_MEANS = ["distance", "between", "among_people", "among_model", "compared"]
_NOTES = (
    "Answers are vectors of length 1: 0 apart if they are the same, 1.41 if their vectors are at "
    "right angles, at most 2. The energy distance (Székely & Rizzo, 2013) is twice the mean "
    "distance of a person's answer from one of the model, minus that of two people's answers and "
    "that of two of the model's. If people's and the model's answers have the same distribution, "
    "it is 0 on average, with any number of answers, so that it can be below 0 by chance.",
    "The interval leaves each person out once, and each session of a model (jackknife); the texts "
    "and the vectors are fixed. Near 0 it is rather too wide.",
    'Answers without a vector are left out: "no vector" counts those of people; "compared" is '
    "the share of the model's answers with a vector, or the probability of its words with one, "
    "which is scaled to 1.",
)


@dataclass(frozen=True, slots=True)
class _ModelAnswers:
    """A model's answers.

    Attributes:
        model: The model's name.
        source: ``distribution`` (of words), or ``sessions``.
        rows: item_id, version, person (the session), answer and weight.
    """

    model: str
    source: str
    rows: pd.DataFrame

    @property
    def is_sample(self) -> bool:
        """Whether these are answers of sessions."""
        return self.source == _SESSIONS


def _list_models(inputs: FindingInputs) -> Iterator[_ModelAnswers]:
    same = same_answers_of(inputs)
    for model, completions in inputs.options.completions.items():
        shares = model_shares(completions, same).assign(person="")
        rows = shares.rename(columns={"probability": "weight"})
        yield _ModelAnswers(model, _DISTRIBUTION, rows)
    for taker in inputs.options.takers:
        if "typed" in taker.frame:
            typed = taker.frame[taker.frame["typed"].notna()].assign(no_answer=False)
            rows = list_answers(typed, same).assign(weight=1.0)
            yield _ModelAnswers(taker.model, _SESSIONS, rows)


def _run(inputs: FindingInputs) -> Findings:
    embedding: Embedding = inputs.options.embedding
    people = list_answers(inputs.data.judgments, same_answers_of(inputs)).assign(weight=1.0)
    models = list(_list_models(inputs))
    vectors = _find_vectors(embedding, [people, *(model.rows for model in models)])
    summaries, by_text, left_out = [], [], []
    for model in models:
        texts = _compare_texts(people, model, vectors)
        if not texts:
            left_out.append(
                f"The meanings of {model.model}'s answers ({model.source}) were left out: no text "
                f"has answers with vectors by {_FEWEST_ANSWERING} people"
                + (f" and {_FEWEST_ANSWERING} sessions." if model.is_sample else " and the model.")
            )
            continue
        described = pd.DataFrame([text.describe() for text in texts])
        summaries.append(_summarise(model, texts, described))
        by_text.append(described.assign(model=model.model, source=model.source))
    if not models:
        left_out.append("--embedding needs models' answers: give --completions or --takers.")
    if not summaries:
        return Findings(left_out=tuple(left_out))
    summary = pd.DataFrame(summaries)
    counts = people["answer"].value_counts()
    statistics = {
        "answer_meanings": summary,
        "answer_meanings_by_text": pd.concat(by_text, ignore_index=True),
        "answers_without_vector": counts[~counts.index.isin(vectors)].reset_index(name="n"),
    }
    sentences = tuple(_sentences(summary, embedding))
    table = _summary_table(summary, embedding, inputs)
    return Findings((table,), statistics, tuple(left_out), summary=sentences)


def _find_vectors(embedding: Embedding, tables: list[pd.DataFrame]) -> dict[str, Floats]:
    answers = sorted({str(answer) for table in tables for answer in table["answer"]})
    rows = zip(answers, embedding.embed(answers), strict=True)
    return {answer: vector for answer, vector in rows if np.isfinite(vector).all()}


@dataclass(frozen=True, slots=True)
class _ComparedText:
    """People's and a model's answers to a text.

    Attributes:
        item_id: The item.
        version: The version shown.
        people: The distances of people's answers.
        model: Those of the model's sessions; None for a distribution of words.
        among_model: The mean distance of two of the model's answers.
        n_answers: How many answers people gave.
        n_without: How many of these have no vector.
        compared: The share of the model's answers, or the probability, that has vectors.
    """

    item_id: str
    version: str
    people: Sample
    model: Sample | None
    among_model: float
    n_answers: int
    n_without: int
    compared: float

    def describe(self) -> dict[str, object]:
        """Return the text's row."""
        people = self.people
        return {
            "item_id": self.item_id,
            "version": self.version,
            "distance": 2 * people.between - people.among - self.among_model,
            "between": people.between,
            "among_people": people.among,
            "among_model": self.among_model,
            "n_answers": self.n_answers,
            "n_without": self.n_without,
            "compared": self.compared,
        }


def _compare_texts(
    people: pd.DataFrame, model: _ModelAnswers, vectors: Mapping[str, Floats]
) -> list[_ComparedText]:
    """Return the texts that enough people, and the model, gave answers with vectors to."""
    of_people = dict(iter(people.groupby(_TEXT_KEYS, sort=False)))
    texts = []
    for (item_id, version), rows in model.rows.groupby(_TEXT_KEYS, sort=False):
        answers = of_people.get((item_id, version))
        if answers is None:
            continue
        known, own = (table[table["answer"].isin(vectors)] for table in (answers, rows))
        fewest = _FEWEST_ANSWERING if model.is_sample else 1
        if known["person"].nunique() < _FEWEST_ANSWERING or own["person"].nunique() < fewest:
            continue
        names = pd.Index(known["answer"]).union(own["answer"]).unique()
        distances = measure_distances(np.array([vectors[name] for name in names]))
        who, weights = list_by_person(known, names)
        sessions, own_weights = list_by_person(own, names)
        shares, own_shares = (table.sum(0) / table.sum() for table in (weights, own_weights))
        sample = (
            measure_sample(sessions, own_weights, shares, distances) if model.is_sample else None
        )
        of_words = float(own_shares @ distances @ own_shares)
        total = rows["weight"].sum() if model.is_sample else 1.0
        texts.append(
            _ComparedText(
                str(item_id),
                str(version),
                measure_sample(who, weights, own_shares, distances),
                sample,
                sample.among if sample else of_words,
                len(answers),
                len(answers) - len(known),
                float(own["weight"].sum() / total),
            )
        )
    return texts


def _summarise(
    model: _ModelAnswers, texts: list[_ComparedText], described: pd.DataFrame
) -> dict[str, object]:
    """Return a model's row: means over texts, and the interval of the mean distance."""
    people = [(text.people.people, text.people.changes()) for text in texts]
    sessions = [(text.model.people, text.model.changes()) for text in texts if text.model]
    errors = [jackknife_error(changes) for changes in (people, sessions) if changes]
    fewest = min(n for _, n in errors)
    error = np.sqrt(sum(error**2 for error, _ in errors)) if fewest >= FEWEST_PEOPLE else np.nan
    half = float(t.ppf((1 + LEVEL) / 2, fewest - 1) * error)
    means = described[_MEANS].mean()
    return {
        "model": model.model,
        "source": model.source,
        "n_texts": len(texts),
        **means,
        "low": means["distance"] - half,
        "high": means["distance"] + half,
        **described[["n_answers", "n_without"]].sum(),
    }


def _summary_table(summary: pd.DataFrame, embedding: Embedding, inputs: FindingInputs) -> Table:
    return inputs.context.table(
        "answer_meanings",
        "People's and models' answers by meaning",
        "How far the meanings of people's answers are from those of each model's distribution of "
        "words, or of the answers that it typed in sessions, on average over texts. Vectors: "
        f"{embedding.in_words}.",
        summary.assign(group="", label=summary["model"]),
        (
            Column("label", "Model", "text"),
            Column("source", "Answers of", "text"),
            Column("n_texts", "Texts", "count"),
            Column("distance", "Energy distance", "estimate"),
            Column("between", "Between", "number"),
            Column("among_people", "Two people", "number"),
            Column("among_model", "Two of model", "number"),
            Column("n_without", "No vector", "count"),
            Column("compared", "Compared", "number"),
        ),
        _NOTES,
        section=Section.ANSWERS,
    )


def _sentences(summary: pd.DataFrame, embedding: Embedding) -> Iterator[str]:
    for row in summary.to_dict("records"):
        interval = (
            f" (95% interval {row['low']:.2f} to {row['high']:.2f})" if pd.notna(row["low"]) else ""
        )
        what = "the words" if row["source"] == _DISTRIBUTION else "the answers"
        yield (
            f"By meaning ({embedding.name}), the energy distance between people's answers and "
            f"{what} of {row['model']} is {row['distance']:.2f}{interval} on average over "
            f"{row['n_texts']:,} texts: a person's answer and one of the model are "
            f"{row['between']:.2f} apart, two people's {row['among_people']:.2f}, two of the "
            f"model's {row['among_model']:.2f}. {row['n_without']:,} of {row['n_answers']:,} "
            "answers of people have no vector and were left out."
        )


MEANINGS = Finding("answer_meanings", Section.ANSWERS, _run, needs=(Need.EMBEDDING,))
