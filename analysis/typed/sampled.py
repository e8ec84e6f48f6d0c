"""The finding that compares people's answers with those that models typed in the same sessions."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from analysis.findings.finding import Finding, FindingInputs, Findings, Need
from analysis.statistics.resample import numpy_generator
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section
from analysis.typed.cloze import list_answers
from analysis.typed.completions import WORD
from analysis.typed.model_distance import Compared, Floats, jackknife_interval, pair_up
from analysis.typed.same_answers import SameAnswers, same_answers_of

_DRAWS = 200
_TEXT_KEYS = ["item_id", "version"]
_NOTES = (
    "The distance is the total variation between both shares of answers: 0 if they are equal, 1 if "
    "no answer is common. Its interval leaves each person out once (jackknife); the texts and the "
    "model's answers are fixed. The distance of shares of few answers is too high; the column \"of "
    "one source\" has the mean distance if people's and the model's answers are exchanged at "
    "random.",
    "Models' answers count as the same by the rules for people's.",
)


def sampled_shares(answers: pd.DataFrame, same: SameAnswers) -> pd.DataFrame:
    """Return how often a model typed each answer to a text.

    Args:
        answers: One row for each trial of the model's sessions: item_id, version, participant (the
            sitting) and typed.
        same: The answers as which texts count.

    Returns:
        item_id, version, answer, n, probability (the share), rank (1 for each), scored.
    """
    listed = list_answers(answers.assign(no_answer=False), same)
    counts = listed.groupby([*_TEXT_KEYS, "answer"], sort=False).size().rename("n").reset_index()
    total = counts.groupby(_TEXT_KEYS, sort=False)["n"].transform("sum")
    return counts.assign(probability=counts["n"] / total, rank=1, scored=WORD)


def distance_of_one_source(people: Floats, model: Floats, rng: np.random.Generator) -> float:
    """Return the mean distance if answers are exchanged at random between people and a model.

    Args:
        people: Shape ``(answers,)``: how many people gave each answer.
        model: Shape ``(answers,)``: how often the model did.
        rng: The generator.
    """
    pooled = (people + model).astype(int)
    n = int(people.sum())
    drawn = rng.multivariate_hypergeometric(pooled, n, _DRAWS)
    apart = np.abs(drawn / n - (pooled - drawn) / model.sum())
    return float(apart.sum(1).mean() / 2)


def _run(inputs: FindingInputs) -> Findings:
    same = same_answers_of(inputs)
    answers = list_answers(inputs.data.judgments, same)
    summaries, texts = [], []
    for taker in inputs.options.takers:
        frame = taker.frame
        typed = frame[frame["typed"].notna()] if "typed" in frame else frame[:0]
        shares = sampled_shares(typed, same) if len(typed) else pd.DataFrame()
        pairs = pair_up(answers, shares) if len(typed) else {}
        if not pairs:
            continue
        counts = shares.set_index([*_TEXT_KEYS, "answer"])["n"]
        rng = numpy_generator(inputs.context.seed, "sampled answers", taker.model)
        of_texts = _describe_texts(pairs, counts, rng).assign(model=taker.model)
        means = of_texts[["distance", "of_one_source", "covered", "given"]].mean()
        low, high = jackknife_interval(pairs)
        n_sittings = int(typed["participant"].nunique())
        summaries.append(
            {"model": taker.model, "n_sittings": n_sittings, "n_texts": len(pairs), **means}
            | {"low": low, "high": high}
            | {"types_one_word": n_sittings > 1 and bool((shares["probability"] == 1).all())}
        )
        texts.append(of_texts)
    if not summaries:
        return Findings(left_out=("No model typed answers to the texts that people completed.",))
    summary, by_text = pd.DataFrame(summaries), pd.concat(texts, ignore_index=True)
    return Findings(
        (_summary_table(summary, inputs), _texts_table(by_text, inputs)),
        {"sampled_answers": summary, "sampled_answers_by_text": by_text},
        summary=tuple(_sentences(summary)),
    )


def _describe_texts(
    pairs: Mapping[tuple[str, str], Compared],
    counts: "pd.Series[int]",
    rng: np.random.Generator,
) -> pd.DataFrame:
    rows = []
    for (item_id, version), pair in pairs.items():
        people: Floats = pair.counts
        keys = [(item_id, version, answer) for answer in pair.answers]
        model: Floats = np.asarray(
            counts.reindex(pd.MultiIndex.from_tuples(keys)).fillna(0), np.float64
        )
        first, own = int(people.argmax()), int(model.argmax())
        rows.append(
            {
                "item_id": item_id,
                "version": version,
                "answer": pair.answers[first],
                "share": people[first] / people.sum(),
                "model_share": pair.model[first],
                "word": pair.answers[own],
                "word_share": pair.model[own],
                "distance": pair.distance(people),
                "of_one_source": distance_of_one_source(people, model, rng),
                "covered": people[model > 0].sum() / people.sum(),
                "given": model[people > 0].sum() / model.sum(),
            }
        )
    return pd.DataFrame(rows)


def _summary_table(summary: pd.DataFrame, inputs: FindingInputs) -> Table:
    return inputs.context.table(
        "sampled_answers",
        "People's answers and answers that models typed",
        "How far people's answers are from those that each model typed, on average over texts; "
        "which share of people's answers the model typed as well, and which share of its answers "
        "somebody typed.",
        summary.assign(group="", label=summary["model"]),
        (
            Column("label", "Model", "text"),
            Column("n_sittings", "Sessions", "count"),
            Column("n_texts", "Texts", "count"),
            Column("distance", "Distance", "estimate"),
            Column("of_one_source", "Of one source", "number"),
            Column("covered", "People's covered", "number"),
            Column("given", "Model's covered", "number"),
        ),
        _NOTES,
        section=Section.ANSWERS,
    )


def _texts_table(texts: pd.DataFrame, inputs: FindingInputs) -> Table:
    return inputs.context.table(
        "sampled_answers_by_text",
        "People's answers and answers that models typed, by text",
        "For each text people's most frequent answer with its shares among people's and the "
        "model's answers, the model's most frequent answer, and the distance.",
        texts.assign(group=texts["model"], label=texts["item_id"]),
        (
            Column("label", "Item", "text"),
            Column("answer", "Answer", "text"),
            Column("share", "People", "number"),
            Column("model_share", "Model", "number"),
            Column("word", "Model's answer", "text"),
            Column("word_share", "Model", "number"),
            Column("distance", "Distance", "number"),
        ),
        section=Section.SUPPLEMENT,
    )


def _sentences(summary: pd.DataFrame) -> Iterator[str]:
    for row in summary.to_dict("records"):
        interval = (
            f" (95% interval {row['low']:.2f} to {row['high']:.2f})" if pd.notna(row["low"]) else ""
        )
        yield (
            f"People's answers and those that {row['model']} typed in {row['n_sittings']:,} "
            f"sessions differ by a total variation of {row['distance']:.2f}{interval} on average "
            f"over {row['n_texts']:,} texts; answers of one source would differ by "
            f"{row['of_one_source']:.2f}."
        )
        if row["types_one_word"]:
            yield (
                f"{row['model']} typed the same word in all sessions of each text: its most "
                "probable one, unless `parallax take` drew the words with `--sampled`."
            )


SAMPLED_ANSWERS = Finding("sampled_answers", Section.ANSWERS, _run, needs=(Need.TAKERS,))
