"""How often the score and its signals speak against 60 real people, from published trials.

Usage: python benchmarks/people_published.py PATHS

PATHS is the data set KH2017_raw of the R package mousetrap (Kieslich & Henninger 2017, Behavior
Research Methods 49, 1652-1667), saved by R: ``write.csv(mousetrap::KH2017_raw, "PATHS")``. In it 60
people sort animals by mouse in 19 trials each; trial order, times and paths are there. Their page
was another: the mouse begins each trial at the same place. So ``rests``, which asks whether it
stays where it is, cannot be judged, and ways between options are more even than on our page.
"""

import argparse
import json
import math
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pandas as pd
from mouse_rest import rest_ms
from people_flagged import FLAGGED, SPEAKS_NATS, exact

from experiment.integrity.certificate import Certificate, certify
from experiment.integrity.observed import ObservedAnswer, ObservedSession

LENGTHS = (8, 15, 19)
# What these trials can tell of: press durations, arrivals and devices are not in the data.
SIGNALS = ("even_times", "even_paths", "jumps", "waits")
BETWEEN_MS = 800.0


def observed(trials: pd.DataFrame) -> ObservedSession:
    """Return somebody's trials as a session; the time between trials is not in the data."""
    answers, now = [], 10_000.0
    for number, (_, trial) in enumerate(trials.iterrows(), 1):
        xs, ys = (json.loads(trial[f"{axis}pos_get_response"]) for axis in "xy")
        steps = [math.dist(*ends) for ends in pairwise(zip(xs, ys, strict=True))]
        rt_ms = float(trial["response_time"])
        now += rt_ms + BETWEEN_MS
        answers.append(ObservedAnswer(
            position=number, arrived_ms=now, rt_ms=rt_ms, waited_ms=0.0, input_method="pointer",
            side="first" if trial["response"] == trial["CategoryLeft"] else "second",
            item=trial["Exemplar"], kind=trial["Condition"], has_onset=True, trusted=True,
            times_shown=1, seen_before_ms=0.0, pointer_moves=sum(step > 0 for step in steps),
            pointer_path_px=sum(steps), pointer_stopped_ms=max(0.0, rt_ms - rest_ms(trial)),
        ))  # fmt: skip
    return ObservedSession(tuple(answers), automated=False, gap_ms=BETWEEN_MS)


def row(name: str, found: Iterable[bool]) -> str:
    """Return how many people something speaks against, with the exact 95 % interval."""
    raised = list(found)
    k, n = sum(raised), len(raised)
    low, high = exact(k, n)
    return f"{name:<16}{k:>6} of {n}   {low:6.1%} to {high:.1%}"


def main() -> None:
    """Judge the people and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", type=Path)
    table = pd.read_csv(parser.parse_args().paths).sort_values(["subject_nr", "count_trial"])
    for length in LENGTHS:
        people: list[Certificate] = [
            certify(observed(trials.head(length))) for _, trials in table.groupby("subject_nr")
        ]
        print(f"\nthe first {length} trials")
        for name in SIGNALS:
            print(row(name, (dict(one.signals).get(name, 0.0) >= SPEAKS_NATS for one in people)))
        print(row("the score", ((one.agent_likelihood or 0.0) > FLAGGED for one in people)))


if __name__ == "__main__":
    main()
