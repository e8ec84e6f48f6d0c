"""Studies and items of any shape, made in the test."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from experiment.records import Item, Kind
from experiment.studies.study import Study

# Designs of the field, each rebuilt as a study folder.
DESIGNS = Path(__file__).parents[2] / "data" / "designs"


def make_items(
    template: str,
    slots: Mapping[str, int | Sequence[str]],
    conditions: Sequence[str],
    construction: str = "",
) -> Iterator[Item]:
    """Yield an item for every combination of the slots' words in every condition."""
    words = [
        [f"{slot.lower()}{n}" for n in range(lemmas)] if isinstance(lemmas, int) else lemmas
        for slot, lemmas in slots.items()
    ]
    for number, choice in enumerate(product(*words)):
        frame = " ".join(f"{slot}={lemma}" for slot, lemma in zip(slots, choice, strict=True))
        for condition in conditions:
            text = f"{' '.join(choice)} {condition} {template}"
            yield Item(
                item_id=f"{template}-{number}-{condition}",
                kind=Kind.TARGET,
                construction=construction or template,
                condition=condition,
                template=template,
                features=f"number={condition}",
                frame=frame,
                context="",
                good=f"good {text}",
                bad=f"bad {text}",
            )


def make_study(
    squares: Sequence[Mapping[str, Any]],
    lists: int,
    trials_per_list: int,
    **design: Any,
) -> Study:
    """Return a study with these squares; further keys of its design by name."""
    rules = design.pop("exclusion", [])
    return Study(
        folder=Path("made-in-a-test"),
        study={"name": "small", "title": "Small", "version": "1", "language": "en"},
        materials={"grammar": "none.toml"},
        constructions=[{"name": "unused", "title": "Unused"}],
        design={
            "lists": lists,
            "participants_per_list": 4,
            "trials_per_list": trials_per_list,
            "squares": squares,
            **design,
        },
        exclusion=rules,
        simulation={"mix": {"accurate": 1.0}},
    )


NUMBERS = ("singular", "plural")

MIXED_ITEMS = [
    *make_items("simple", {"N": 4, "V": 4}, NUMBERS),
    *make_items("across", {"N": 4, "M": 4, "V": 4}, NUMBERS),
    *make_items("within", {"N": 4, "M": 4, "V": 4}, NUMBERS),
    *make_items("living", {"N": 4, "V": 4}, ("past", "future"), construction="polarity"),
    *make_items("lifeless", {"T": 4, "V": 4}, ("past", "future"), construction="polarity"),
]

MIXED = make_study(
    [
        {"templates": ["simple"], "frames": 8, "catch_trials": 3},
        {"templates": ["across"]},
        {"templates": ["within"]},
        {"templates": ["living", "lifeless"]},
    ],
    lists=4,
    trials_per_list=10,
    disjoint=[{"templates": ["across", "within"], "slots": ["N", "M"]}],
    exclusion=[{"rule": "max_errors", "construction": "simple", "max_errors": 1}],
)
"""A catch square, two templates kept apart and a pooled square: every kind of check."""
