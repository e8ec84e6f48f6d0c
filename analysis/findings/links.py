"""Link functions: which of a model's scores predicts people's judgments of other frames best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from scipy.special import logit

from analysis.data.declared import clustering_column
from analysis.data.load import Scores
from analysis.data.n_alternatives import find_options
from analysis.findings.finding import Context, Finding, FindingInputs, Findings
from analysis.scores.metrics import (
    METRICS,
    SENTENCE_METRICS,
    compute_metric,
    compute_sentence_metric,
    read_tokens,
)
from analysis.statistics.correlation import correlations
from analysis.statistics.links import (
    FEWEST_FRAMES,
    FEWEST_TEXTS,
    Curve,
    assign_folds,
    compare_links,
    losses,
    predict_by_fold,
    squared_errors,
)
from analysis.statistics.resample import Codes, Floats, codes, numpy_generator
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section
from experiment.records import Variant

# Every other link is compared with this one, which is the metric by default.
REFERENCE = "sum"
LINKS = {
    "sum": "log-probability",
    "mean": "per token",
    "words": "per word",
    "penlp": "PenLP",
    "slor": "SLOR",
    "morcela": "MORCELA",
    "word": "first token that differs",
    "choice_mean": "per token of the choice",
}
_FORMULAS = {
    "words": "log p of the whole sentence / words",
    "morcela": "(log p - beta log unigram p + gamma) / tokens, beta and gamma fitted",
}
# The scores that MORCELA weighs.
_MORCELA = ["mean", "unigram_mean", "per_length"]
_PROMPT = "prompt: "
_LEAST_CHANCE = 1e-6
_PERCENT = 100


@dataclass(frozen=True, slots=True)
class _Judged:
    """People's judgments of texts, or of pairs of texts.

    Attributes:
        texts: One row per judged pair (item_id) or single text (item_id, version).
        unit: Shape ``(texts,)``: the frame of each.
        text: Shape ``(judgments,)``: the judged row of ``texts``.
        outcome: Shape ``(judgments,)``: whether the expected version was chosen, whether the answer
            was yes, or the rating as a z-score.
        participant: Shape ``(judgments,)``.
        curve: The shape of the links.
    """

    texts: pd.DataFrame
    unit: Codes
    text: Codes
    outcome: Floats
    participant: Codes
    curve: Curve


def _analyse(inputs: FindingInputs) -> Findings:
    if find_options(inputs.run):
        return Findings(
            left_out=(
                "The comparison of link functions is left out: it is of choices between two "
                "versions, and here there are more.",
            )
        )
    judged = _collect_judgments(inputs.data.judgments)
    results, pairs, left_out = [], [], []
    for model, scores in _collect_scores(inputs, judged).items():
        links = _usable_links(scores)
        if len(links) < 2:
            continue
        known = scores[_columns(links)].notna().all(axis=1).to_numpy()
        n_texts, n_frames = int(known.sum()), len(np.unique(judged.unit[known]))
        if n_texts < FEWEST_TEXTS or n_frames < FEWEST_FRAMES:
            left_out.append(
                f"The link functions of {model} are not compared: people judged {n_texts} texts of "
                f"{n_frames} frames that it scored, and a link that is fitted on other frames "
                f"needs {FEWEST_TEXTS} of {FEWEST_FRAMES}."
            )
            continue
        fits, in_pairs = _compare(inputs.context, judged, scores, links, known)
        results.append(fits.assign(judge=model))
        pairs.append(in_pairs.assign(judge=model))
    if not results:
        return Findings(left_out=tuple(left_out))
    together, paired = (pd.concat(frames, ignore_index=True) for frames in (results, pairs))
    tables = (
        _links_table(together, paired, judged.curve, inputs.context),
        _pairs_table(paired, inputs.context),
    )
    return Findings(tables, {"links": together, "link_pairs": paired}, tuple(left_out))


def _collect_judgments(judgments: pd.DataFrame) -> _Judged:
    value, curve, key = "chose_good", Curve.LOGISTIC, ["item_id"]
    if "z" in judgments or "said_yes" in judgments:
        key = ["item_id", "version"]
        value, curve = ("z", Curve.LINE) if "z" in judgments else ("said_yes", Curve.LOGISTIC)
    rows = judgments[judgments[value].notna()].reset_index(drop=True)
    texts = rows[key].astype(str)
    text = texts.groupby(key, sort=False).ngroup().to_numpy().astype(np.intp)
    first = ~texts.duplicated()
    unit, _ = codes(rows.loc[first, clustering_column(rows)].astype(str))
    return _Judged(
        texts[first].reset_index(drop=True),
        unit,
        text,
        rows[value].to_numpy(dtype=float),
        codes(rows["participant"])[0],
        curve,
    )


def _collect_scores(inputs: FindingInputs, judged: _Judged) -> dict[str, pd.DataFrame]:
    """Return each model's scores of the judged texts, or their differences within pairs."""
    n_words, unigram = _count_words(inputs.run.items), inputs.options.unigram
    if "version" in judged.texts:
        sentences = pd.MultiIndex.from_frame(judged.texts)
        return {
            scores.facts.model: _scores_of_versions(scores, unigram, n_words).reindex(sentences)
            for scores in inputs.as_read
        }
    items = judged.texts["item_id"]
    aligned = {
        scores.facts.model: _differences(scores, unigram, n_words, items).reindex(items)
        for scores in inputs.as_read
    }
    for taken in inputs.options.takers:
        prompts = _prompted(taken.frame).reindex(items)
        if len(prompts.columns):
            known = aligned.get(taken.model)
            aligned[taken.model] = prompts if known is None else known.join(prompts)
    return aligned


def _count_words(items: pd.DataFrame) -> "pd.Series[int]":
    """Return the number of words of each version, with its context."""
    columns = items[["item_id", "context", *Variant]].astype(str)
    counts = {
        (item_id, variant): len(f"{context} {text}".split())
        for item_id, context, *texts in columns.itertuples(index=False)
        for variant, text in zip(Variant, texts, strict=True)
    }
    return pd.Series(counts)


def _differences(
    scores: Scores, unigram: Scores | None, n_words: "pd.Series[int]", items: "pd.Series[str]"
) -> pd.DataFrame:
    """Return each score of an item's expected version minus that of the other version."""
    judged = items.tolist()
    tokens = read_tokens(scores, judged)
    of_unigram = read_tokens(unigram, judged) if unigram else None
    metrics = [*_whole_metrics(unigram), "word"]
    metrics += ["choice_mean"] if tokens.follow_contexts else []
    values = {name: compute_metric(tokens, name, of_unigram) for name in metrics}
    versions = _add_scores(values, tokens.rows, n_words)
    # Two impossible versions (-inf each) count as a tie.
    good, other = versions.to_numpy()[0::2], versions.to_numpy()[1::2]
    apart = np.subtract(good, other, out=np.zeros(good.shape), where=good != other)
    return pd.DataFrame(apart, tokens.rows["item_id"].iloc[0::2].astype(str), versions.columns)


def _scores_of_versions(
    scores: Scores, unigram: Scores | None, n_words: "pd.Series[int]"
) -> pd.DataFrame:
    rows = scores.frame[["item_id", "variant"]].astype(str)
    values = {
        name: compute_sentence_metric(scores, name, unigram) for name in _whole_metrics(unigram)
    }
    return _add_scores(values, rows, n_words).set_index(pd.MultiIndex.from_frame(rows))


def _whole_metrics(unigram: Scores | None) -> list[str]:
    return [name for name in SENTENCE_METRICS if name in LINKS and (name != "slor" or unigram)]


def _add_scores(
    values: Mapping[str, Floats], rows: pd.DataFrame, n_words: "pd.Series[int]"
) -> pd.DataFrame:
    """Return the scores of versions, with those per word and those that MORCELA weighs."""
    frame = pd.DataFrame(values)
    versions = pd.MultiIndex.from_frame(rows[["item_id", "variant"]].astype(str))
    frame["words"] = frame["sum"] / n_words.reindex(versions).to_numpy(dtype=float)
    if "slor" in frame:
        frame["unigram_mean"] = frame["mean"] - frame["slor"]
        frame["per_length"] = frame["mean"] / frame["sum"]
    return frame


def _prompted(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the log odds of the expected option by item, for each reading with a prompt."""
    with_prompt = answers[(answers["labels"] != "") & answers["p_good"].notna()]
    chance = with_prompt.pivot_table("p_good", "item_id", "reading", observed=True)
    odds = pd.DataFrame(logit(chance.clip(_LEAST_CHANCE, 1 - _LEAST_CHANCE)))
    return odds.set_axis(odds.index.astype(str)).rename(
        columns=lambda name: f"{_PROMPT}{str(name).replace('_', ' ')}"
    )


def _usable_links(scores: pd.DataFrame) -> dict[str, list[str]]:
    """Return the columns of each link, without links that an impossible text makes infinite."""
    links = {name: [name] for name in LINKS if name in scores}
    links |= {"morcela": _MORCELA} if "per_length" in scores else {}
    links |= {name: [name] for name in scores.columns if str(name).startswith(_PROMPT)}
    return {
        name: links[name]
        for name in [*LINKS, *links]
        if name in links and not np.isinf(scores[links[name]].to_numpy()).any()
    }


def _columns(links: Mapping[str, Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(name for columns in links.values() for name in columns))


def _compare(
    context: Context,
    judged: _Judged,
    scores: pd.DataFrame,
    links: Mapping[str, Sequence[str]],
    known: "np.ndarray[tuple[int], np.dtype[np.bool_]]",
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return each link's fit to judgments of other frames, and the links in pairs."""
    place = np.cumsum(known) - 1
    in_known = known[judged.text]
    text, outcome = place[judged.text[in_known]], judged.outcome[in_known]
    unit, participant = judged.unit[known], judged.participant[in_known]
    n = np.bincount(text, minlength=int(known.sum())).astype(float)
    total = np.bincount(text, outcome, len(n)).astype(float)
    fold = assign_folds(codes(unit)[0], numpy_generator(context.seed, "links"))
    predict = partial(predict_by_fold, total=total, n=n, fold=fold, curve=judged.curve)
    predicted = {
        name: predict(scores.loc[known, columns].to_numpy(float)) for name, columns in links.items()
    }
    without = predict(np.empty((len(n), 0)))[text]
    of_links = {
        name: losses(outcome, values[text], judged.curve) for name, values in predicted.items()
    }
    base = losses(outcome, without, judged.curve)
    paired = compare_links(of_links, base, participant, unit[text])
    counts = {
        "n_texts": len(n),
        "n_judgments": len(outcome),
        "n_frames": len(np.unique(unit)),
        "n_participants": len(np.unique(participant)),
    }
    rows = [
        {
            "link": name,
            "loss": of_links[name].mean(),
            "explained": _PERCENT * (1 - of_links[name].sum() / base.sum()),
            "squares": _PERCENT * (1 - squared_errors(outcome, values[text]).sum()
                                   / squared_errors(outcome, without).sum()),
            **_correlate(total / n, values, codes(unit)[0]),
            **_against_reference(name, paired),
            **counts,
        }
        for name, values in predicted.items()
    ]  # fmt: skip
    return pd.DataFrame(rows), paired.assign(**counts)


def _correlate(people: Floats, predicted: Floats, unit: Codes) -> dict[str, float]:
    found = correlations(people, predicted, unit)
    return {name: found[name] for name in ("pearson", "pearson_low", "pearson_high")}


def _against_reference(name: str, paired: pd.DataFrame) -> dict[str, float]:
    """Return a link's gain over the reference, in percentage points."""
    rows = paired[(paired["first"] == REFERENCE) & (paired["second"] == name)]
    ends = {"gain": "difference", "gain_low": "low", "gain_high": "high"}
    return {
        end: _PERCENT * float(rows[column].item()) if len(rows) else np.nan
        for end, column in ends.items()
    }


def _name_link(name: str) -> str:
    return LINKS.get(name, name)


def _links_table(
    together: pd.DataFrame, paired: pd.DataFrame, curve: Curve, context: Context
) -> Table:
    logistic = curve is Curve.LOGISTIC
    formulas = {**METRICS, **_FORMULAS}
    links = [name for name in LINKS if name in set(together["link"])]
    notes = [
        "Explained: the share of the loss without a model that a link saves on judgments of frames "
        "that it was not fitted on (ten folds by frame; "
        + ("loss: minus the log-probability of each choice" if logistic else "loss: squared error")
        + "). Without a model, each text gets the mean of the other frames.",
        *(["Squared error: the same share of the squared error."] if logistic else []),
        "Gain: in percentage points over the log-probability, with a 95% interval, paired over "
        "judgments and clustered by participant and frame. r: of people's means and the "
        "predictions, over texts.",
        "Links: " + "; ".join(f"{LINKS[name]}: {formulas[name]}" for name in links) + ".",
        *(_nearest(rows, paired[paired["judge"] == model], str(model))
          for model, rows in together.groupby("judge", sort=False)),
    ]  # fmt: skip
    if "slor" not in links:
        notes.append("SLOR and MORCELA need a unigram model's scores (--unigram).")
    return context.table(
        "links",
        "Link functions",
        "Which score of a model is nearest to people: each is related to their judgments by a "
        + ("logistic curve." if logistic else "straight line (ratings as z-scores)."),
        together.assign(group=together["judge"], label=together["link"].map(_name_link)),
        (
            Column("label", "", "text"),
            Column("explained", "Explained, %", "number"),
            Column("gain", "Gain, points", "estimate"),
            *((Column("squares", "Squared error, %", "number"),) if logistic else ()),
            Column("pearson", "r", "estimate"),
            Column("n_texts", "Items" if logistic else "Texts", "count"),
            Column("n_judgments", "Judgments", "count"),
        ),
        notes,
        Section.METRICS,
    )


def _nearest(rows: pd.DataFrame, paired: pd.DataFrame, model: str) -> str:
    """Return the sentence on the link that explains most, and those not distinguishable from it."""
    best = rows.sort_values("explained").iloc[-1]
    name = str(best["link"])
    if best["explained"] <= 0:
        return f"{model}: no score predicts judgments of other frames better than their mean does."
    involved = paired[(paired["first"] == name) | (paired["second"] == name)]
    unclear = involved[~(involved["p_holm"] < 0.05)]
    others = [
        _name_link(str(second if first == name else first))
        for first, second in zip(unclear["first"], unclear["second"], strict=True)
    ]
    return (
        f"{model}: nearest to people is {_name_link(name)} ({best['explained']:.1f}% explained, "
        f"{best['n_judgments']:,} judgments)"
        + (f"; not distinguishable from it: {', '.join(others)}" if others else "")
        + " (Holm's correction over all pairs)."
    )


def _pairs_table(paired: pd.DataFrame, context: Context) -> Table:
    ends = {
        f"gain{end}": _PERCENT * paired[column]
        for end, column in (("", "difference"), ("_low", "low"), ("_high", "high"))
    }
    labels = [
        f"{_name_link(second)} minus {_name_link(first)}"
        for first, second in zip(paired["first"], paired["second"], strict=True)
    ]
    return context.table(
        "link_pairs",
        "Link functions in pairs",
        "The difference of what two links explain of the same judgments, in percentage points.",
        paired.assign(group=paired["judge"], label=labels, **ends),
        (
            Column("label", "", "text"),
            Column("gain", "Difference", "estimate"),
            Column("p", "p", "p"),
            Column("p_holm", "Holm", "p"),
        ),
        ("The fitted links are taken as known. Holm: over all pairs of a model.",),
        Section.SUPPLEMENT,
    )


LINK_FUNCTIONS = Finding("links", Section.METRICS, _analyse, slow=True)
