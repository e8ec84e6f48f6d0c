"""How often the score and the flags speak against real people of whom nothing was fitted.

Usage: python benchmarks/people_not_fitted.py --data DATA

DATA is the folder Data of github.com/IanEisenberg/Self_Regulation_Ontology (Eisenberg et al. 2019,
Nature Communications 10, 2319). By three of its tasks of 522 people it was decided which signals
count (``people_published.py``). Here are others:

- the same people in other tasks, among them 149 ratings of food by mouse;
- people whom the authors left out (Failed) or who did not finish (Incomplete), in all these tasks.

Their page was another. What each answer tells beside times is taken to be there, as our page sends
it from everybody: so ``measured`` and ``device`` cannot speak, and nothing is said of them.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from people_flagged import FLAGS, exact
from people_published import first, timed

from experiment.exclusion.integrity import flags
from experiment.integrity.agent import signals
from experiment.integrity.certificate import certify
from experiment.integrity.observed import ObservedSession


class Task(NamedTuple):
    """A task: its file, what is asked in it, which rows are its trials, what the server sees."""

    file: str
    asked: str
    trial: str = "stim"
    stages: tuple[str, ...] = ("test",)
    seen: str = "key"


COMPLETE = "Complete_02-16-2019"
LEFT_OUT = ("Failed_12-05-2017", "Incomplete_12-05-2017")
FITTED = (
    Task("bickel_titrator", "money now or later"),
    Task("kirby", "money now or later, short"),
    Task("choice_reaction_time", "colour of a square"),
)
NOT_FITTED = (
    Task("dietary_decision", "food, ratings by mouse", seen="pointer",
         stages=("health_rating", "taste_rating", "decision")),
    Task("discount_titrate", "money sooner or later"),
    Task("stroop", "colour of a word"),
    Task("simon", "side of a colour"),
    Task("local_global_letter", "large or small letter"),
    Task("shape_matching", "same shape"),
    Task("recent_probes", "letters just seen", trial="probe"),
    Task("directed_forgetting", "letters to forget", trial="probe"),
)  # fmt: skip
NAMES = ("clock", *FLAGS, "agent_likelihood")
LENGTHS = (8, 24, 76, 150)
People = Mapping[str, Sequence[ObservedSession]]


def people_of(data: Path) -> dict[str, list[ObservedSession]]:
    """Return the sessions of every task that is there, by what was asked and by whom.

    Raises:
        SystemExit: The folder holds none of the files.
    """
    asked_of = [(task, task.asked, (COMPLETE,)) for task in NOT_FITTED]
    asked_of += [(task, f"left out: {task.asked}", LEFT_OUT) for task in (*FITTED, *NOT_FITTED)]
    found = {asked: list(_sessions(data, task, of)) for task, asked, of in asked_of}
    if not any(found.values()):
        sys.exit(f"{data} holds no {COMPLETE}/Individual_Measures/stroop.csv.gz or the like.")
    return {asked: sessions for asked, sessions in found.items() if sessions}


def _sessions(data: Path, task: Task, folders: Sequence[str]) -> Iterator[ObservedSession]:
    for folder in folders:
        file = data / folder / "Individual_Measures" / f"{task.file}.csv.gz"
        if file.exists():
            table = pd.read_csv(file, low_memory=False)
            yield from timed(table, task.stages, task.trial, task.seen)


def counts(sessions: Sequence[ObservedSession], n: int) -> tuple[Counter[str], int]:
    """Return how many of whom the first so many trials are there each name speaks of."""
    cut = [one for one in (first(each, n) for each in sessions) if one is not None]
    found: Counter[str] = Counter()
    for one in cut:
        found.update(list(flags(certify(one))))
        found["clock"] += bool(signals(one).get("clock"))
    return found, len(cut)


def show(people: People) -> None:
    """Print the table, a row for each task and length that half of its people have."""
    print(f"{'real people, not fitted':<44}{'trials':>7}{'people':>8}"
          + "".join(f"{name:>18}" for name in NAMES))  # fmt: skip
    worst = dict.fromkeys(NAMES, (0.0, ""))
    for asked, sessions in people.items():
        for n in LENGTHS:
            found, size = counts(sessions, n)
            if size < len(sessions) / 2:
                continue
            cells = [f"{found[name]} ({exact(found[name], size)[1]:.1%})" for name in NAMES]
            print(f"{asked:<44}{n:>7}{size:>8}" + "".join(f"{cell:>18}" for cell in cells))
            for name in NAMES:
                worst[name] = max(worst[name], (found[name] / size, f"{asked}, {n} trials"))
    print("in brackets: the upper end of the exact 95 % interval")
    for name, (share, where) in worst.items():
        print(f"{name}: at most {share:.2%} of people{f', in {where}' if share else ''}")


def main() -> None:
    """Judge the people and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder of published data")
    show(people_of(parser.parse_args().data))


if __name__ == "__main__":
    main()
