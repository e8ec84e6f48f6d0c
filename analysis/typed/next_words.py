"""How many people typed each word after the beginning of a text: people's surprisal of what comes.

Beginnings are compared by the rules for typed answers, but with their punctuation: a comma changes
what people expect.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from math import log2

import pandas as pd

from analysis.data.join import judgments
from analysis.data.load import ExportedRun
from analysis.typed.cloze import SMOOTHING_K, SMOOTHING_V, list_answers, people_of
from analysis.typed.completions import find_blanks
from analysis.typed.same_answers import SameAnswers
from experiment.coding.normalise import RULES


@dataclass(frozen=True, slots=True)
class NextWords:
    """People's completions of one beginning.

    Attributes:
        texts: The items whose texts begin so.
        n_people: How many people saw one of these texts.
        people: By item and answer, who gave it.
        same: As which answer a text counts.
    """

    texts: tuple[str, ...]
    n_people: int
    people: Mapping[tuple[str, str], set[str]]
    same: SameAnswers

    def count(self, word: str) -> int:
        """Return how many people typed a word."""
        # A table of variants may count it as another answer in some of the texts.
        keys = ((text, self.same.answer(text, word)) for text in self.texts)
        return len({person for key in keys for person in self.people.get(key, ())})

    def surprisal_bits(self, word: str) -> float:
        """Return people's surprisal of a word, smoothed as in the report of typed answers."""
        smoothed = (self.count(word) + SMOOTHING_K) / (self.n_people + SMOOTHING_K * SMOOTHING_V)
        return -log2(smoothed)


def normalise_beginning(text: str) -> str:
    """Return the form in which beginnings of texts are compared."""
    for name, change in RULES.items():
        if name != "punctuation":
            text = change(text)
    return text


def count_next_words(run: ExportedRun, same: SameAnswers) -> dict[str, NextWords]:
    """Return people's completions by the beginning of the text, for texts that end with their gap.

    Texts with the same beginning are one text. After the gap there may be punctuation.

    Args:
        run: A run, or an import, of typed answers.
        same: As which answers texts count.

    Raises:
        AnalysisError: The run has no typed answers, or no text has just one gap.
    """
    beginnings = {
        (blank.item_id, blank.version): beginning
        for blank in find_blanks(run)
        if (beginning := normalise_beginning(blank.before))
        and not any(map(str.isalnum, blank.after))
    }
    rows = judgments(run).astype({"item_id": str, "version": str})
    keys = zip(rows["item_id"], rows["version"], strict=True)
    rows = rows.assign(beginning=[beginnings.get(key, "") for key in keys], person=people_of(rows))
    rows = rows[rows["beginning"] != ""]
    if rows.empty:
        return {}
    rows = rows.assign(participant=rows["person"])
    return {
        str(beginning): NextWords(
            tuple(texts["item_id"].unique()),
            texts["person"].nunique(),
            _collect_people(list_answers(texts, same)),
            same,
        )
        for beginning, texts in rows.groupby("beginning", sort=False)
    }


def _collect_people(answers: pd.DataFrame) -> dict[tuple[str, str], set[str]]:
    """Return who gave each answer to each item."""
    people = defaultdict[tuple[str, str], set[str]](set)
    for item_id, answer, person in zip(
        answers["item_id"], answers["answer"], answers["person"], strict=True
    ):
        people[item_id, answer].add(person)
    return dict(people)
