"""The finding that compares people's answers with the words of language models."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from analysis.findings.finding import Finding, FindingInputs, Findings, Need
from analysis.statistics.resample import numpy_generator
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section
from analysis.typed.cloze import list_answers
from analysis.typed.completions import SEVERAL_GAPS, WHOLE_TEXT
from analysis.typed.gaps import has_several_gaps
from analysis.typed.model_distance import Compared, jackknife_interval, model_shares, pair_up
from analysis.typed.same_answers import same_answers_of

_METHOD_NOTE = (
    "The distance is the total variation: 0 if the model gives each answer the share of the people "
    "who gave it, 1 if no answer has a probability. Its interval leaves each person out once "
    "(jackknife); the texts are fixed. The distance of shares of few people is too high; the "
    'column "of samples" has the mean distance of as many answers drawn from the model itself.',
    "The probability of a word is that of its usual tokens, with the end of the word; other "
    "divisions into tokens are not added. Together they and all words that are not listed have "
    'what is left of 1, the column "rest".',
    "Where a text goes on after its gap, the whole text was scored with each word, and the "
    "probabilities are relative to people's answers and the model's own words: the model saw the "
    'words after the gap, and "rest" is 0 by definition.',
)


def _run(inputs: FindingInputs) -> Findings:
    same = same_answers_of(inputs)
    answers = list_answers(inputs.data.judgments, same)
    summaries, texts, words = [], [], []
    for model, completions in inputs.options.completions.items():
        shares = model_shares(completions, same)
        pairs = pair_up(answers, shares)
        if not pairs:
            continue
        rng = numpy_generator(inputs.context.seed, "completions", model)
        of_texts = _describe_texts(pairs, rng).assign(model=model)
        of_texts["whole_text"] = (
            (shares.groupby(["item_id", "version"], sort=False)["scored"].first() == WHOLE_TEXT)
            .reindex(pd.MultiIndex.from_frame(of_texts[["item_id", "version"]]))
            .to_numpy()
        )
        low, high = jackknife_interval(pairs)
        means = of_texts[["distance", "of_samples", "covered", "given", "rest"]].mean()
        summaries.append(
            {"model": model, "n_texts": len(pairs), **means, "low": low, "high": high}
            | {"n_top": int(completions["rank"].max()) if shares["rank"].notna().any() else 0}
        )
        texts.append(of_texts)
        words.append(shares.assign(model=model))
    if not summaries:
        return Findings(left_out=("No text of the tables of completions has an answer.",))
    summary = pd.DataFrame(summaries)
    return Findings(
        (_summary_table(summary, inputs), _texts_table(pd.concat(texts), inputs)),
        {
            "completion_models": summary,
            "completion_texts": pd.concat(texts, ignore_index=True),
            "completion_words": pd.concat(words, ignore_index=True),
        },
        (SEVERAL_GAPS,) if has_several_gaps(inputs.run.study) else (),
        summary=tuple(_sentences(summary)),
    )


def _describe_texts(
    pairs: Mapping[tuple[str, str], Compared], rng: np.random.Generator
) -> pd.DataFrame:
    rows = []
    for (item_id, version), pair in pairs.items():
        counts = pair.counts
        n_top = int(pair.is_top.sum())
        best = int(pair.model.argmax())
        modal = int(counts.argmax())
        rows.append(
            {
                "item_id": item_id,
                "version": version,
                "answer": pair.answers[modal],
                "share": counts[modal] / counts.sum(),
                "probability": pair.model[modal],
                "word": pair.answers[best],
                "word_probability": pair.model[best],
                "distance": pair.distance(counts),
                "of_samples": pair.expected_of_samples(rng),
                "covered": counts[pair.is_top].sum() / counts.sum() if n_top else np.nan,
                "given": (counts[pair.is_top] > 0).mean() if n_top else np.nan,
                "rest": max(0.0, 1.0 - float(pair.model.sum())),
            }
        )
    return pd.DataFrame(rows)


def _summary_table(summary: pd.DataFrame, inputs: FindingInputs) -> Table:
    n_top = int(summary["n_top"].max())
    return inputs.context.table(
        "completions",
        "People's answers and models' words",
        "How far people's answers are from each model's distribution of words, on average over "
        f"texts; which share of people's answers is among the model's {n_top} most probable words, "
        "and which share of these words somebody typed.",
        summary.assign(group="", label=summary["model"]),
        (
            Column("label", "Model", "text"),
            Column("n_texts", "Texts", "count"),
            Column("distance", "Distance", "estimate"),
            Column("of_samples", "Of samples", "number"),
            Column("covered", "Answers covered", "number"),
            Column("given", "Words given", "number"),
            Column("rest", "Rest", "number"),
        ),
        _METHOD_NOTE,
        section=Section.ANSWERS,
    )


def _texts_table(texts: pd.DataFrame, inputs: FindingInputs) -> Table:
    return inputs.context.table(
        "completions_by_text",
        "People's answers and models' words by text",
        "For each text people's most frequent answer, its share of the answers and its probability "
        "by the model; the model's most probable word; and the distance.",
        texts.assign(group=texts["model"], label=texts["item_id"]),
        (
            Column("label", "Item", "text"),
            Column("answer", "Answer", "text"),
            Column("share", "Share", "number"),
            Column("probability", "Probability", "number"),
            Column("word", "Model's word", "text"),
            Column("word_probability", "Probability", "number"),
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
            f"People's answers and {row['model']}'s distribution of words differ by a total "
            f"variation of {row['distance']:.2f}{interval} on average over "
            f"{row['n_texts']:,} texts; as many answers drawn from the model would differ by "
            f"{row['of_samples']:.2f}."
        )
        if row["n_top"]:
            yield (
                f"{row['covered']:.0%} of people's answers are among {row['model']}'s "
                f"{row['n_top']} most probable words, and people typed {row['given']:.0%} of these."
            )


BESIDE_MODELS = Finding("completions", Section.ANSWERS, _run, needs=(Need.COMPLETIONS,))
