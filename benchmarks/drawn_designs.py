"""Studies drawn by seed: six kinds of sessions, one to three factors, perhaps a covariate.

``parallax study new`` writes each study from a table of items in two by two or more conditions.
"""

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pandas as pd
from click.testing import CliRunner

from experiment.commands import study as commands
from experiment.comparisons.planned import planned_comparisons
from experiment.design.lists import BuiltLists, build_lists
from experiment.materials.read import load_items
from experiment.studies.load import load_study
from experiment.studies.study import Study

KINDS = ("choices", "ratings", "yes and no", "self-paced reading", "Maze", "two tasks")
_TASKS = ("sentence_pair", "rating", "yes_no", "self_paced", "maze")
_FACTORS = {"match": ("far", "near"), "number": ("pl", "sg"), "length": ("long", "short")}
_BETWEEN = '\nfactors = { instruction = ["plain", "careful"] }'
FREQUENCY, TRIAL_ORDER = "frequency", "trial_order"
_COVARIATES = ("", FREQUENCY, TRIAL_ORDER)
_FRAMES = 16


@dataclass(frozen=True, slots=True)
class DrawnDesign:
    """A design.

    Attributes:
        kind: The kind of sessions.
        tasks: The type of response of each task; a session of two tasks has both.
        factors: The factors of the items, with their levels.
        between: Whether participants also differ in a factor, the instruction.
        covariate: What the comparisons hold constant; empty for nothing.
    """

    kind: str
    tasks: tuple[str, ...]
    factors: Mapping[str, tuple[str, str]]
    between: bool
    covariate: str


def draw_design(seed: int) -> DrawnDesign:
    """Return the design of a seed."""
    draw = random.Random(seed)
    place = seed % len(KINDS)
    tasks = _TASKS[place : place + 1] or (draw.choice(_TASKS[:3]), draw.choice(_TASKS[3:]))
    between = draw.random() < 0.4
    names = list(_FACTORS)[: draw.randint(1, 2 if between or len(tasks) > 1 else 3)]
    factors = {name: _FACTORS[name] for name in names}
    return DrawnDesign(KINDS[place], tasks, factors, between, draw.choice(_COVARIATES))


def make_study(design: DrawnDesign, seed: int, per_list: int) -> tuple[Study, BuiltLists]:
    """Return a study of the design, and its lists, written into the working folder."""
    draw = random.Random(seed)
    table = pd.DataFrame(
        row for task in design.tasks for row in _rows_of_task(design, task, draw)
    ).fillna("")
    table.to_csv("items.csv", index=False)
    response = design.tasks[0] if len(design.tasks) == 1 else "mixed"
    CliRunner().invoke(
        commands.new, ["drawn", "--from", "items.csv", "--response", response],
        catch_exceptions=False,
    )  # fmt: skip
    toml = Path("drawn/study.toml")
    people = f"participants_per_list = {per_list}{_BETWEEN if design.between else ''}"
    text = toml.read_text("utf-8").split("[[comparisons]]")[0]
    toml.write_text(re.sub(r"participants_per_list = \d+.*", people, text), "utf-8")
    study = load_study("drawn")
    items = list(load_items(study))
    held = (design.covariate,) if design.covariate else ()
    primary = [
        comparison.declaration.model_copy(update={"covariates": held})
        for comparison in planned_comparisons(study, items)
        if comparison.declaration.is_primary
    ]
    return study.model_copy(update={"comparisons": primary}), build_lists(study, items, seed)


def _rows_of_task(
    design: DrawnDesign, task: str, draw: random.Random
) -> Iterator[dict[str, object]]:
    for frame in range(1, _FRAMES + 1):
        for levels in product(*design.factors.values()):
            text = f"Word {' '.join(levels)} number {frame} is here."
            row: dict[str, object] = {"item": frame, "construction": task}
            row |= dict(zip(design.factors, levels, strict=True))
            row |= {"sentence": text, FREQUENCY: round(draw.gauss(3, 1), 2)}
            if len(design.tasks) > 1:
                row["task"] = task
            if task == "sentence_pair":
                row |= {"good": row.pop("sentence"), "bad": text.replace("is", "are")}
            if task == "maze":
                row["distractors"] = " ".join(["x-x-x", *("ago" for _ in text.split()[1:])])
            yield row
