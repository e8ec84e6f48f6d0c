"""Choices of people and one model with known parameters, to be found again."""

import numpy as np
import pandas as pd
from scipy.special import expit

# Intercept (people on a), b - a of people, the model beyond people on a and on b; logits.
EFFECTS = np.array([1.2, -0.5, -0.3, -0.8])
SD_PARTICIPANT, SD_ITEM = 0.8, 0.6


def known_choices(rng, n_people=40, n_items=60):
    """Return rows as ``choice_rows`` gives them: everybody judges every item."""
    people, items = np.divmod(np.arange(n_people * n_items), n_items)
    is_b = np.arange(n_items) % 2 == 1
    of_item = rng.normal(0, SD_ITEM, n_items)
    common = EFFECTS[0] + EFFECTS[1] * is_b + of_item
    of_people = common[items] + rng.normal(0, SD_PARTICIPANT, n_people)[people]
    of_model = common + np.where(is_b, EFFECTS[3], EFFECTS[2])
    frame = pd.DataFrame(
        {
            "judge": ["people"] * len(people) + ["lstm"] * n_items,
            "participant": [*people.astype(str), *["lstm"] * n_items],
            "item_id": np.concatenate([items, np.arange(n_items)]).astype(str),
            "construction": np.where(np.concatenate([is_b[items], is_b]), "b", "a"),
            "condition": "any",
            "chose_good": (
                rng.random(len(people) + n_items) < expit(np.concatenate([of_people, of_model]))
            ).astype(float),
        }
    )
    return frame.assign(judge=pd.Categorical(frame["judge"], ["people", "lstm"]))


def equally_accurate(rng):
    """People who differ much, and a model that is right as often as all of them together."""
    rows = known_choices(rng)
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    person, item = rng.normal(0, 1.5, 40), rng.normal(0, 0.5, 60)
    share = expit((1.5 + item)[:, None] + 1.5 * nodes) @ weights / weights.sum()
    of_people = rows["judge"] == "people"
    at = rows["item_id"].astype(int).to_numpy()
    who = np.where(of_people, rows["participant"].where(of_people, "0"), "0").astype(int)
    chance = np.where(of_people, expit(1.5 + item[at] + person[who]), share[at])
    return rows.assign(chose_good=(rng.random(len(rows)) < chance).astype(float))


def crossed(chose_good):
    """Return judgments of everybody on every item, shape (people, items)."""
    n_people, n_items = chose_good.shape
    person, item = np.divmod(np.arange(n_people * n_items), n_items)
    return pd.DataFrame(
        {
            "participant": person.astype(str),
            "item_id": item.astype(str),
            "construction": np.where(item % 2, "b", "a"),
            "chose_good": chose_good.ravel(),
        }
    )


def decided(correct):
    items = np.arange(len(correct))
    return pd.DataFrame(
        {
            "item_id": items.astype(str),
            "construction": np.where(items % 2, "b", "a"),
            "correct": correct,
        }
    )


def people_and_an_equal_model(rng):
    """Return a study whose model is, on each item, as often right as people are on average."""
    points, weights = np.polynomial.hermite_e.hermegauss(31)
    of_items, of_people = rng.normal(0, SD_ITEM, 60), rng.normal(0, SD_PARTICIPANT, 40)
    logit = EFFECTS[0] + of_items
    chance = (expit(logit[:, None] + SD_PARTICIPANT * points) * weights).sum(1) / weights.sum()
    judged = rng.random((40, 60)) < expit(logit + of_people[:, None])
    return crossed(judged), {"equal": decided(rng.random(60) < chance)}
