"""Choices of people and one model with known parameters, to be found again."""

import numpy as np
import pandas as pd
from scipy.special import expit

# Intercept (people on a), b - a of people, the model beyond people on a and on b; logits.
EFFECTS = np.array([1.2, -0.5, -0.3, -0.8])
SD_PARTICIPANT, SD_ITEM = 0.8, 0.6


def known_choices(rng, n_people=40, n_items=60):
    """Return rows as ``mixed.choices`` gives them: everybody judges every item."""
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
