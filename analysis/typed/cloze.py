"""Cloze probabilities: the share of people who gave an answer, with intervals and smoothing.

Each person answers a text once, so the number who gave an answer is binomial, and its interval is
Wilson's, however few they are: docs/decisions/cloze-intervals.md.
"""

import numpy as np
import pandas as pd

from analysis.statistics.resample import wilson_interval
from analysis.typed.same_answers import SameAnswers
from analysis.typed.variants import VARIANTS_TABLE
from experiment.coding.normalise import RULES, list_changes

# Of (n + k) / (N + k V): no answer has a probability of zero, as if each of V were given k times.
SMOOTHING_K = 0.1
SMOOTHING_V = 100
_TEXT_KEYS = ["item_id", "version"]
_BY_RULES = SameAnswers()


def count_answers(judgments: pd.DataFrame, same: SameAnswers = _BY_RULES) -> pd.DataFrame:
    """Return how many people gave each answer to each text, the most frequent answer first.

    A person who gives several answers to a text counts once for each different one.

    Args:
        judgments: One row per answer: item_id, version, typed and no_answer; without participant,
            each answer is another person's.
        same: The answers as which texts count.

    Returns:
        item_id, version, answer (normalised), n, n_people (who saw the text, including those who
        could not think of an answer, or whose answer an archive withholds), cloze, cloze_low,
        cloze_high, smoothed, surprisal_bits, good_turing (cloze, less the share of answers that
        nobody has given yet; see ``estimate_unseen``).
    """
    rows = judgments[_TEXT_KEYS].astype(str).assign(person=people_of(judgments))
    n_people = rows.groupby(_TEXT_KEYS, sort=False)["person"].nunique().rename("n_people")
    answers = list_answers(judgments, same)
    counts = answers.groupby([*_TEXT_KEYS, "answer"], sort=False).size().rename("n").reset_index()
    counts = counts.merge(n_people.reset_index(), on=_TEXT_KEYS)
    place = {text: number for number, text in enumerate(n_people.index)}
    counts["place"] = [
        place[text] for text in zip(counts["item_id"], counts["version"], strict=True)
    ]
    counts = counts.sort_values(
        ["place", "n", "answer"], ascending=[True, False, True], ignore_index=True
    ).drop(columns="place")
    n, n_all = counts["n"].to_numpy(float), counts["n_people"].to_numpy(float)
    intervals = list(map(wilson_interval, counts["n"].tolist(), counts["n_people"].tolist()))
    seen = 1 - counts.groupby(_TEXT_KEYS, sort=False)["n"].transform(estimate_unseen)
    smoothed = (n + SMOOTHING_K) / (n_all + SMOOTHING_K * SMOOTHING_V)
    return counts.assign(
        cloze=n / n_all,
        cloze_low=[interval.low for interval in intervals],
        cloze_high=[interval.high for interval in intervals],
        smoothed=smoothed,
        surprisal_bits=-np.log2(smoothed),
        good_turing=n / n_all * seen.to_numpy(float),
    )


def list_answers(judgments: pd.DataFrame, same: SameAnswers = _BY_RULES) -> pd.DataFrame:
    """Return each different answer of each person to a text: item_id, version, person, answer.

    Args:
        judgments: As for ``count_answers``.
        same: The answers as which texts count.
    """
    rows = judgments[[*_TEXT_KEYS, "typed"]].astype(dict.fromkeys(_TEXT_KEYS, str))
    with_text = rows.assign(person=people_of(judgments))[_has_text(judgments)]
    answers = [
        same.answer(item_id, str(typed))
        for item_id, typed in zip(with_text["item_id"], with_text["typed"], strict=True)
    ]
    return with_text.assign(answer=answers).drop(columns="typed").drop_duplicates(ignore_index=True)


def describe_texts(judgments: pd.DataFrame, counts: pd.DataFrame) -> pd.DataFrame:
    """Return what people's answers say about each text.

    Args:
        judgments: One row per answer, as for ``count_answers``, with construction and condition.
        counts: What ``count_answers`` returns of them.

    Returns:
        item_id, version, construction, condition, n_people, n_no_answer, n_withheld (texts that
        an archive leaves out), n_different, answer (the most frequent), cloze with
        its interval, entropy_bits of the answers that were given, and unseen (see
        ``estimate_unseen``).
    """
    names = ["construction", "condition"]
    rows = judgments.astype(dict.fromkeys((*_TEXT_KEYS, *names), str)).assign(
        is_withheld=~_has_text(judgments) & ~judgments["no_answer"].astype(bool),
        person=people_of(judgments),
    )
    of_text = rows.groupby(_TEXT_KEYS, sort=False)
    texts = of_text[names].first()
    texts["n_people"] = of_text["person"].nunique()
    answering = rows[~rows["no_answer"].astype(bool)].groupby(_TEXT_KEYS, sort=False)["person"]
    texts["n_no_answer"] = texts["n_people"].sub(answering.nunique(), fill_value=0).astype(int)
    texts["n_withheld"] = of_text["is_withheld"].sum()
    answered = counts.groupby(_TEXT_KEYS, sort=False)
    columns = ["answer", "cloze", "cloze_low", "cloze_high"]
    texts = texts.join(answered[columns].first()).assign(
        n_different=answered.size(),
        entropy_bits=answered["n"].apply(estimate_entropy_bits),
        unseen=answered["n"].apply(estimate_unseen),
    )
    return texts.assign(n_different=texts["n_different"].fillna(0).astype(int)).reset_index()


def people_of(judgments: pd.DataFrame) -> "pd.Series[str]":
    """Return who gave each answer; if participants are unknown, each answer is another person's."""
    unknown = pd.Series([f"row {n}" for n in range(len(judgments))], judgments.index, dtype=str)
    if "participant" not in judgments:
        return unknown
    return judgments["participant"].astype(object).fillna(unknown).astype(str)


def _has_text(judgments: pd.DataFrame) -> "pd.Series[bool]":
    """Return which answers have a text: not those of people who could not think of one."""
    typed = judgments["typed"]
    return typed.notna() & (typed.astype(str) != "") & ~judgments["no_answer"].astype(bool)


def estimate_entropy_bits(counts: "pd.Series[int]") -> float:
    """Return the entropy of the answers in bits, without a correction for those not seen."""
    shares = counts.to_numpy(float) / counts.sum()
    return float(-(shares * np.log2(shares)).sum()) + 0.0


def estimate_unseen(counts: "pd.Series[int]") -> float:
    """Return the estimated probability that a further answer is one that nobody has given.

    Good and Turing's estimate is the share of answers that one person gave; this is its refinement
    by Chao, A. & Jost, L. (2012), Coverage-based rarefaction and extrapolation, Ecology 93(12),
    equation 4a, which is below 1 also where every answer is another one.

    Args:
        counts: How many people gave each answer to a text.
    """
    n, once, twice = int(counts.sum()), int((counts == 1).sum()), int((counts == 2).sum())
    if not once or n < 2:
        return float(once)
    pairs = 2 * twice if twice else 2
    others = (n - 1) * (once if twice else once - 1)
    return once / n * others / (others + pairs)


def count_normalisations(judgments: pd.DataFrame, same: SameAnswers = _BY_RULES) -> pd.DataFrame:
    """Return how many answers each rule changed, and one example: rule, n, example."""
    rows = judgments.loc[_has_text(judgments), ["item_id", "typed"]].astype(str)
    changes: dict[str, list[str]] = {name: [] for name in RULES}
    further = [*([VARIANTS_TABLE] if same.table else []), *same.steps]
    changes |= {name: [] for name in further}
    for item_id, text in zip(rows["item_id"], rows["typed"], strict=True):
        for name in (*list_changes(text), *same.list_changes(item_id, text)):
            changes[name].append(text)
    return pd.DataFrame(
        [
            {"rule": name, "n": len(texts), "example": repr(texts[0]) if texts else ""}
            for name, texts in changes.items()
        ]
    )
