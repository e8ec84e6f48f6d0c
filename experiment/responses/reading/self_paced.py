"""Self-paced reading: each key press shows the next word or region and hides the previous one."""

import random
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import ClassVar, Literal

from pydantic import Field

from experiment.records import Item, Steps
from experiment.responses.base import Known
from experiment.responses.reading.alignment import proposed_alignment
from experiment.responses.reading.division import Questioned, StepUnit
from experiment.responses.reading.reading import Read
from experiment.responses.responders import Responder


class Paced(Read):
    """Base class of the types in which a key press shows the next step."""

    typical_rt_ms: ClassVar[float] = 4000.0
    comments: ClassVar[Mapping[str, str]] = {
        "by": "what one press shows: word or region",
        "display": "or centred: every step in the same place; or cumulative",
    }

    by: StepUnit = Field(
        default="word",
        description="whether one press shows the next word, the next region or the whole sentence",
    )
    display: Literal["moving", "centred", "cumulative"] = Field(
        default="moving",
        description="moving: each step in its place, the others masked; centred: all in one "
        "place; cumulative: what was read stays",
    )

    @property
    def unit(self) -> StepUnit:
        """The unit of a step, from the parameter ``by``."""
        return self.by

    def plan(self, item: Item, version: str) -> str:
        """Return the number of a version's steps as text."""
        return str(len(self.steps(item, version)))

    def page(self, item: Item, version: str, texts: Sequence[str], plan: str) -> dict[str, object]:
        """Return the texts of the steps."""
        return {"steps": list(texts)}

    def fits(self, steps: Steps, plan: str) -> bool:
        """Return whether every step was read."""
        return str(len(steps.onset_ms)) == plan and not steps.wrong

    def steady(self, plan: str) -> Steps:
        """Return steps of 400 ms each."""
        n = int(plan)
        return Steps(tuple(400.0 * k for k in range(n)), (400.0,) * n, "p" * n, (4.0,) * n)

    def simulate_steps(
        self, responder: Responder, known: Known, version: str, rng: random.Random
    ) -> Steps:
        """Return reading times that grow with word length."""
        times = [self.word_ms(step.text, rng) for step in self.steps(known.item, version)]
        onsets = [round(ms, 1) for ms in accumulate(times[:-1], initial=0.0)]
        n = len(times)
        return Steps(tuple(onsets), tuple(times), "p" * n, (4.0,) * n)

    @classmethod
    def propose_parameters(
        cls, items: Sequence[Item], against: Sequence[str], ends: tuple[str, str]
    ) -> tuple[dict[str, object], str]:
        """Return parameters for reading by region if every item names regions, else by word."""
        has_regions = all(
            dict(item.extra).get("regions") or dict(item.extra).get("good_regions")
            for item in items
        )
        by = "region" if has_regions else "word"
        parameters = {"by": by, "display": "moving", **proposed_alignment(items)}
        return parameters, f"Each sentence is read {by} by {by}."


class SelfPaced(Questioned, Paced):
    """Shows a version word by word or region by region, at the reader's pace."""

    name: ClassVar[str] = "self_paced"
    family: ClassVar[str] = "self_paced"
    measures: ClassVar[tuple[str, ...]] = ("log_rt", "accuracy")
    template: ClassVar[str] = "reading/self_paced.html"
    asked: ClassVar[str] = "self_paced"
    instructions: ClassVar[str] = "instructions_self_paced"

    by: Literal["word", "region"] = Field(
        default="word", description="whether one press shows the next word or the next region"
    )

    @classmethod
    def suits(cls, items: Sequence[Item], against: Sequence[str]) -> bool:
        """Return whether the items name regions."""
        columns = dict(items[0].extra).keys()
        return bool(columns & {"regions", "good_regions"})
