"""The distance between people's answers to a text and a model's distribution of words.

The distance is the total variation: half the sum of the absolute differences of all words'
probabilities, and the sum of the positive ones of people's shares. Words that nobody typed need not
be listed for it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import t

from analysis.statistics.resample import LEVEL
from analysis.typed.completions import WHOLE_TEXT
from analysis.typed.same_answers import SameAnswers

Floats = NDArray[np.float64]
_TEXT_KEYS = ["item_id", "version"]
_SAMPLES = 200
# Of fewer there is no interval.
FEWEST_PEOPLE = 10


def model_shares(completions: pd.DataFrame, same: SameAnswers) -> pd.DataFrame:
    """Return the probability of each answer: the sum over the words that count as this answer.

    Args:
        completions: What ``read_completions`` returns.
        same: The answers as which texts count.

    Returns:
        item_id, version, answer, probability, rank (of the most probable of its words), scored. If
        whole texts were scored, the probabilities of a text sum to 1.
    """
    # Several forms of a word, as with and without a capital, may be rendered alike.
    rows = completions.drop_duplicates([*_TEXT_KEYS, "word"])
    rows = rows.assign(
        answer=[
            same.answer(item_id, word)
            for item_id, word in zip(rows["item_id"], rows["word"], strict=True)
        ]
    )
    highest = rows.groupby(_TEXT_KEYS, sort=False)["logprob_nats"].transform("max")
    is_whole = rows["scored"] == WHOLE_TEXT
    weight = (rows["logprob_nats"] - highest.where(is_whole, 0.0)).map(math.exp)
    total = weight.groupby([rows[name] for name in _TEXT_KEYS], sort=False).transform("sum")
    rows = rows.assign(probability=weight.where(~is_whole, weight / total))
    by = rows.groupby([*_TEXT_KEYS, "answer"], sort=False)
    shares = by.agg(
        probability=("probability", "sum"), rank=("rank", "min"), scored=("scored", "first")
    )
    return shares.reset_index()


@dataclass(frozen=True, slots=True)
class Compared:
    """People's answers to a text, and a model's probabilities.

    Attributes:
        answers: All answers of people and words of the model.
        by_person: Shape ``(people, answers)``: 1 for each answer of a person, else 0.
        people: The people of its rows.
        model: Shape ``(answers,)``: the model's probabilities; their sum is at most 1.
        is_top: Shape ``(answers,)``: whether an answer is among the model's own words.
    """

    answers: tuple[str, ...]
    by_person: Floats
    people: tuple[str, ...]
    model: Floats
    is_top: NDArray[np.bool_]

    @property
    def counts(self) -> Floats:
        """How many people gave each answer."""
        return np.asarray(self.by_person.sum(0), np.float64)

    def distance(self, counts: Floats) -> float:
        """Return the total variation between shares of answers and the model's distribution."""
        return float(np.maximum(counts / counts.sum() - self.model, 0.0).sum())

    def distances_without_each(self) -> Floats:
        """Return the distance without each person's answers; unchanged if nobody else answered."""
        whole = self.distance(self.counts)
        left = [self.counts - own for own in self.by_person]
        return np.array([self.distance(rest) if rest.sum() > 0 else whole for rest in left])

    def expected_of_samples(self, rng: np.random.Generator) -> float:
        """Return the mean distance of as many answers drawn from the model itself.

        A draw that is no listed answer counts as a word of its own.
        """
        rest = max(0.0, 1.0 - float(self.model.sum()))
        probabilities = np.append(self.model, rest)
        n = int(self.counts.sum())
        draws = rng.multinomial(n, probabilities / probabilities.sum(), _SAMPLES)
        listed = np.maximum(draws[:, :-1] / n - self.model, 0.0).sum(1)
        return float((listed + draws[:, -1] / n).mean())


def pair_up(answers: pd.DataFrame, shares: pd.DataFrame) -> Mapping[tuple[str, str], Compared]:
    """Return people's answers with the model's probabilities, for each text that has both.

    Args:
        answers: item_id, version, person and answer; one row for each different answer of a person.
        shares: What ``model_shares`` returns.
    """
    pairs = {}
    by_text = dict(iter(answers.groupby(_TEXT_KEYS, sort=False)))
    for key, rows in shares.groupby(_TEXT_KEYS, sort=False):
        own = by_text.get(key)
        if own is None:
            continue
        listed = rows.set_index("answer")
        table = pd.crosstab(own["person"], own["answer"]).astype(bool).astype(float)
        names = [*table.columns, *(name for name in listed.index if name not in table.columns)]
        table = table.reindex(columns=names, fill_value=0.0)
        pairs[str(key[0]), str(key[1])] = Compared(
            tuple(map(str, names)),
            table.to_numpy(float),
            tuple(map(str, table.index)),
            listed["probability"].reindex(names).fillna(0.0).to_numpy(float),
            listed["rank"].reindex(names).notna().to_numpy(),
        )
    return pairs


def jackknife_interval(pairs: Mapping[tuple[str, str], Compared]) -> tuple[float, float]:
    """Return the interval of the mean distance over texts, by leaving each person out once.

    The texts are fixed. With fewer than ten people both ends are missing.
    """
    changes = []
    for pair in pairs.values():
        whole = pair.distance(pair.counts)
        changes.append((pair.people, pair.distances_without_each() - whole))
    error, n_people = jackknife_error(changes)
    if n_people < FEWEST_PEOPLE:
        return float("nan"), float("nan")
    half = float(t.ppf((1 + LEVEL) / 2, n_people - 1) * error)
    mean = float(np.mean([pair.distance(pair.counts) for pair in pairs.values()]))
    return max(0.0, mean - half), min(1.0, mean + half)


def jackknife_error(changes: Sequence[tuple[Sequence[str], Floats]]) -> tuple[float, int]:
    """Return the standard error of a mean over texts by leaving each person out once.

    Args:
        changes: For each text its people, and by how much its value changes without each.

    Returns:
        The error, and the number of people.
    """
    of_person: dict[str, float] = {}
    for people, of_text in changes:
        for person, change in zip(people, of_text, strict=True):
            of_person[person] = of_person.get(person, 0.0) + change / len(changes)
    n = len(of_person)
    values = np.array(list(of_person.values()))
    return float(np.sqrt((n - 1) / n * ((values - values.mean()) ** 2).sum())), n
