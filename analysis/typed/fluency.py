"""Lists in a time limit: how many entries people make, and how many people make each."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.stats import t as student

from analysis.findings.entries import ENTRY_EFFECTS
from analysis.findings.finding import Finding, FindingInputs, Findings, full_titles
from analysis.findings.flow import FLOW
from analysis.findings.other_answers import LATE_ANSWERS
from analysis.responses.base import ResponseAnalysis
from analysis.responses.yes_no import join_answers_alone
from analysis.statistics.resample import LEVEL, Floats
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.provenance import AskedFor
from analysis.tables.section import Section
from analysis.typed.analysis import list_answers_after, order_as_items, rules_table, show_texts
from analysis.typed.cloze import count_answers, count_normalisations
from analysis.typed.coders import CODER_AGREEMENT
from analysis.typed.same_answers import SameAnswers, same_answers_of
from experiment.responses.typed.text import GAP_SEPARATOR

_TEXT_KEYS = ["item_id", "version"]
_BY_RULES = SameAnswers()


def split_entries(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each entry of a list, with its place; a list without any keeps its row.

    Args:
        judgments: One row per list: typed (with a separator between the entries; missing without
            an entry) and no_answer.
    """
    typed = judgments["typed"].astype(object)
    entries = typed.map(lambda text: text.split(GAP_SEPARATOR), na_action="ignore")
    rows = judgments.assign(typed=entries).explode("typed", ignore_index=False)
    return rows.assign(place=rows.groupby(level=0).cumcount() + 1).reset_index(drop=True)


def count_entries(judgments: pd.DataFrame, same: SameAnswers = _BY_RULES) -> pd.DataFrame:
    """Return how many people made each entry for each text, the most frequent first.

    Args:
        judgments: One row per list, as for ``split_entries``, with item_id, version, participant.
        same: The entries as which texts count.

    Returns:
        item_id, version, entry (normalised), n, n_people (who saw the text), share with its
        interval, mean_place (in the lists that have it, by its first mention).
    """
    entries = split_entries(judgments)
    counts = count_answers(entries, same)
    made = entries[entries["typed"].notna()]
    answers = [
        same.answer(item_id, str(text))
        for item_id, text in zip(made["item_id"].astype(str), made["typed"], strict=True)
    ]
    keys = {key: made[key].astype(str) for key in (*_TEXT_KEYS, "participant")}
    first = made.assign(answer=answers, **keys).groupby([*keys, "answer"])["place"].min()
    places = first.groupby([*_TEXT_KEYS, "answer"]).mean().rename("mean_place").reset_index()
    counts = counts.merge(places, "left", [*_TEXT_KEYS, "answer"])
    names = {
        "answer": "entry",
        "cloze": "share",
        "cloze_low": "share_low",
        "cloze_high": "share_high",
    }
    return counts.rename(columns=names).drop(columns=["smoothed", "surprisal_bits", "good_turing"])


def describe_lists(judgments: pd.DataFrame, same: SameAnswers = _BY_RULES) -> pd.DataFrame:
    """Return how long people's lists for each text are.

    Args:
        judgments: One row per list, as for ``count_entries``, with construction and condition.
        same: The entries as which texts count.

    Returns:
        item_id, version, construction, condition, n_people, n_withheld (lists that an archive
        leaves out), n_none (people without an entry), entries (the mean number of different
        entries of a person) with its interval, repetitions (their mean number), n_different (of
        all people together).
    """
    lists = [
        [same.answer(item_id, entry) for entry in str(text).split(GAP_SEPARATOR)]
        if isinstance(text, str)
        else []
        for item_id, text in zip(
            judgments["item_id"].astype(str), judgments["typed"].astype(object), strict=True
        )
    ]
    rows = judgments.assign(
        is_withheld=judgments["typed"].isna() & ~judgments["no_answer"].astype(bool),
        n_different=[len(set(entries)) for entries in lists],
        n_repetitions=[len(entries) - len(set(entries)) for entries in lists],
        entries=pd.Series(lists, judgments.index),
    )
    texts = []
    for (item_id, version), of_text in rows.groupby(_TEXT_KEYS, sort=False, observed=True):
        kept = of_text[~of_text["is_withheld"]]
        mean, low, high = _mean_interval(kept["n_different"].to_numpy(float))
        texts.append(
            {
                "item_id": item_id,
                "version": version,
                "construction": of_text["construction"].iloc[0],
                "condition": of_text["condition"].iloc[0],
                "n_people": len(of_text),
                "n_withheld": int(of_text["is_withheld"].sum()),
                "n_none": int((kept["n_different"] == 0).sum()),
                "entries": mean,
                "entries_low": low,
                "entries_high": high,
                "repetitions": kept["n_repetitions"].mean(),
                "n_different": len(set().union(*kept["entries"])),
            }
        )
    return pd.DataFrame(texts)


def _mean_interval(values: Floats) -> tuple[float, float, float]:
    """Return the mean with Student's interval; the interval of less than two values is missing."""
    if len(values) < 2:
        return (float(values.mean()) if len(values) else np.nan), np.nan, np.nan
    half = student.ppf((1 + LEVEL) / 2, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5
    return float(values.mean()), float(values.mean() - half), float(values.mean() + half)


def _run(inputs: FindingInputs) -> Findings:
    lists, same = inputs.data.judgments, same_answers_of(inputs)
    texts = order_as_items(describe_lists(lists, same), inputs.run.items)
    counts = count_entries(lists, same)
    rules = count_normalisations(split_entries(lists), same)
    return Findings(
        (_lists_table(texts, counts, inputs), rules_table(rules, inputs)),
        {"fluency": texts, "fluency_entries": counts, "normalisation": rules},
    )


def _lists_table(texts: pd.DataFrame, counts: pd.DataFrame, inputs: FindingInputs) -> Table:
    rows = inputs.context.by_construction(texts)
    common = list_answers_after(0, counts.rename(columns={"entry": "answer"}))
    keys = zip(rows["item_id"].astype(str), rows["version"].astype(str), strict=True)
    rows = rows.assign(
        group=full_titles(rows),
        label=show_texts(rows, inputs.run.items),
        common=[common.get(key, "") for key in keys],
    )
    withheld = [Column("n_withheld", "Withheld", "count")] if rows["n_withheld"].any() else []
    return inputs.context.table(
        "fluency",
        "Lists in a time limit",
        "How many different entries a person makes for each text, and the entries that most people "
        "make.",
        rows,
        (
            Column("label", "Text", "text"),
            Column("condition", "Condition", "text"),
            Column("entries", "Entries", "estimate"),
            Column("repetitions", "Repetitions", "number"),
            Column("n_different", "Different in all", "count"),
            Column("n_people", "People", "count"),
            Column("n_none", "No entry", "count"),
            *withheld,
            Column("common", "Most frequent (people)", "text"),
        ),
        section=Section.ANSWERS,
    )


def _summarise_lists(inputs: FindingInputs, statistics: Mapping[str, pd.DataFrame]) -> list[str]:
    texts = statistics["fluency"]
    measured = texts.dropna(subset=["entries"])
    if measured.empty:
        return []
    return [
        f"People made {measured['entries'].mean():.1f} different entries for a text on average, "
        f"from {measured['entries'].min():.1f} to {measured['entries'].max():.1f} over "
        f"{len(measured):,} texts."
    ]


_ASKED = AskedFor(
    shown="one text",
    task="typed a list in a time limit",
    answer="list",
    measured="",
    methods=(
        'Entries of a list that count as the same (see "Answers counted as the same") count once; '
        "the further ones are repetitions. Whether an entry fits the text is not checked. The "
        "interval of a text's mean number of entries is Student's, over people.",
        "The share of an entry is that of the people who saw the text; a person makes an entry or "
        "not, so that the interval is Wilson's (1927). The mean place of an entry is that in the "
        "lists that have it.",
    ),
    decides=False,
)
FLUENCY = Finding("fluency", Section.ANSWERS, _run)
FLUENCY_ANALYSIS = ResponseAnalysis(
    "fluency",
    _ASKED,
    join_answers_alone,
    _summarise_lists,
    (FLUENCY, ENTRY_EFFECTS, CODER_AGREEMENT, FLOW, LATE_ANSWERS),
)
