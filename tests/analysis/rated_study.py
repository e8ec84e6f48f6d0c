"""Runs in which single sentences were rated, made from known effects."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.data.facts import RunFacts
from analysis.data.load import ExportedRun, Scores, load_scores
from experiment.materials.item_rows import item_from_row
from experiment.materials.read import materials_hash
from experiment.studies.load import load_study
from experiment.tables.schemas import ITEMS
from tests.analysis.small_run import write_scores

STUDY = Path(__file__).parents[1] / "data" / "presentations" / "ratings"
STRUCTURE, LENGTH = ("nonisland", "island"), ("short", "long")
CUTS = np.array([-2.0, -1.2, -0.4, 0.4, 1.2, 2.0])


def island_items(frames: int) -> pd.DataFrame:
    """The items of a 2 x 2 design, one sentence each, with the factors as own columns."""
    rows = []
    for frame, (structure, length) in product(range(1, frames + 1), product(STRUCTURE, LENGTH)):
        row: dict[str, str] = dict.fromkeys(ITEMS.column_names, "")
        row |= {
            "item_id": f"island-{frame}-{structure}-{length}",
            "kind": "target",
            "construction": "extraction",
            "condition": f"{structure}_{length}",
            "template": "extraction",
            "frame": f"item={frame}",
            "good": f"What {structure} {length} {frame}?",
            "contrast": "bad",
            "own_structure": structure,
            "own_length": length,
        }
        rows.append(row)
    return pd.DataFrame(rows)


def latent(
    rng: np.random.Generator, n_people: int, frames: int, effects: Sequence[float]
) -> pd.DataFrame:
    """Ratings by a cumulative logit: every person rates every frame in one condition.

    Args:
        rng: The source of randomness.
        n_people: How many people.
        frames: How many frames; a multiple of four.
        effects: Of the long sentence, of the island, and of both together, in logits.
    """
    person, frame = np.divmod(np.arange(n_people * frames), frames)
    cell = (person + frame) % 4
    structure, length = cell // 2, cell % 2
    own = effects[0] * length + effects[1] * structure + effects[2] * structure * length
    value = own + rng.normal(0, 0.8, n_people)[person] + rng.normal(0, 0.6, frames)[frame]
    noise = rng.logistic(size=len(value))
    return pd.DataFrame(
        {
            "person": person,
            "frame": frame + 1,
            "structure": structure,
            "length": length,
            "rating": 1 + ((value + noise)[:, None] > CUTS).sum(axis=1),
        }
    )


def island_run(
    seed: int = 1, n_people: int = 32, frames: int = 16, effects: Sequence[float] = (-0.5, -0.5, -2)
) -> ExportedRun:
    """A run of it, everybody kept."""
    answers = latent(np.random.default_rng(seed), n_people, frames, effects)
    items = island_items(frames)
    names = [f"p{number:03}" for number in range(n_people)]
    ids = [
        f"island-{row.frame}-{STRUCTURE[row.structure]}-{LENGTH[row.length]}"
        for row in answers.itertuples()
    ]
    trials = pd.DataFrame(
        {
            "participant": [names[one] for one in answers["person"]],
            "position": answers["frame"].to_numpy(),
            "item_id": ids,
            "kind": "target",
            "good_side": "first",
        }
    )
    responses = trials.drop(columns=["kind", "good_side"]).assign(
        chosen_side=None, chose_good=None, rt_ms=2000.0, input_method="key", version="good",
        rating=answers["rating"].to_numpy(),
    )  # fmt: skip
    return ExportedRun(
        folder=Path("island"),
        facts=_facts(items),
        study=load_study(str(STUDY)),
        items=items,
        participants=pd.DataFrame(
            {
                "participant": names,
                "simulated": False,
                "state": "finished",
                "list": 0,
                "consented_at": "2026-01-01",
            }
        ),
        trials=trials,
        responses=responses,
        verdicts=pd.DataFrame({"participant": names, "kept": True, "rule": ""}),
    )


def _facts(items: pd.DataFrame) -> RunFacts:
    return RunFacts(
        run="r", study="ratings", study_version="1.0", seed=1, materials_hash=_hash(items),
        recruiter="local", simulated=False, launched_at=None, code_version="v9",
        rendering="as_written",
    )  # fmt: skip


def _hash(items: pd.DataFrame) -> str:
    plain = items.rename(columns=lambda name: name.removeprefix("own_"))
    return materials_hash(map(item_from_row, plain.to_dict("records")))


def island_scores(folder: Path, run: ExportedRun) -> Scores:
    """A model's scores of the sentences: the island costs it two nats, the long sentence one."""
    rows = []
    for item in run.items.to_dict("records"):
        cost = 2.0 * (item["own_structure"] == "island") + (item["own_length"] == "long")
        logprob = -20 - cost - 0.01 * int(item["frame"].removeprefix("item="))
        rows.append(
            {key: item[key] for key in ("item_id", "construction", "condition", "contrast")}
            | {"variant": "good", "logprob_nats": logprob, "n_tokens": 5, "n_unknown": 0,
               "token_logprobs_nats": [logprob / 5] * 5}
        )  # fmt: skip
    facts = {"study": run.facts.study, "materials_hash": run.facts.materials_hash}
    return load_scores(write_scores(folder / "scores.parquet", rows, **facts))
