"""Measure how often candidate signals flag real humans, from published trials.

Usage: python benchmarks/people_published.py --times FOLDER --paths PATHS [--write]

FOLDER contains choice_reaction_time.csv.gz, bickel_titrator.csv.gz and kirby.csv.gz of the folder
Data/Complete_02-16-2019/Individual_Measures of github.com/IanEisenberg/Self_Regulation_Ontology
(Eisenberg et al. 2019, Nature Communications 10, 2319): 522 participants on Mechanical Turk chose
by key in their own browsers, each trial with its time and its end by the browser's own clock. The
times include no network delay.

PATHS is the data set KH2017_raw of the R package mousetrap (Kieslich & Henninger 2017, Behavior
Research Methods 49, 1652-1667), saved by R: ``write.csv(mousetrap::KH2017_raw, "PATHS")``. In it 60
participants sort animals by mouse in 19 trials each, with order, times and paths. Their page
differs from ours: the mouse starts each trial at the same place. So ``rests``, which checks whether
the mouse stays in place, cannot be judged, and paths between options vary less than on our page.

``--write`` saves the rates in ``experiment/integrity/published.tsv``; from these and from simulated
ones the product decides which signals count.
"""

import argparse
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pandas as pd
from agent_bench.candidates import SPEAKS_NATS, nats_of
from agent_bench.seen import SeenAnswer
from people_flagged import FLAGS, LENGTHS, exact

from experiment.exclusion.integrity import flags
from experiment.integrity import rates
from experiment.integrity.certificate import certify
from experiment.integrity.observed import ObservedSession

FILE = Path(rates.__file__).with_name("published.tsv")
# The data, what is asked in them, and what the server would see.
TIMED = {
    "bickel_titrator": "money now or later",
    "kirby": "money now or later, short",
    "choice_reaction_time": "colour of a square",
}
PATHS = "animals by mouse"
SEEN = {**dict.fromkeys(TIMED.values(), "key"), PATHS: "pointer"}
# What these trials can tell of: press durations and devices are in none of them.
OF_TIMES = ("clock", "pace", "even_times", "drift", *FLAGS)
OF_PATHS = ("even_times", "even_paths", "jumps", "waits")
BETWEEN_MS = 800.0
# From the consent to the first trial.
_BEFORE_MS = 10_000.0
People = Mapping[str, Sequence[ObservedSession]]


def rest_ms(trial: pd.Series) -> float:
    """Return the milliseconds from the last movement of a trial's mouse to its press."""
    path = (json.loads(trial[f"{name}_get_response"]) for name in ("timestamps", "xpos", "ypos"))
    samples = list(zip(*path, strict=True))
    moved = [time for (_, *before), (time, *here) in pairwise(samples) if here != before]
    began = samples[0][0]
    return trial["response_time"] - (max(moved, default=began) - began)


def timed(
    table: pd.DataFrame, stages: Sequence[str] = ("test",), trial: str = "stim", seen: str = "key"
) -> Iterator[ObservedSession]:
    """Yield everybody's trials of a table as a session whose arrivals are the browser's own.

    Args:
        table: The rows of one task.
        stages: The parts of the task that are looked at, one after the other.
        trial: Which rows of them are trials.
        seen: What the server would see of how they are answered.
    """
    counted = (table["trial_id"] == trial) & table["exp_stage"].isin(stages) & (table["rt"] > 0)
    trials = table[counted].sort_values(["worker_id", "time_elapsed"])
    between = trials.groupby("worker_id")["time_elapsed"].diff() - trials["rt"]
    gap_ms = float(between.median())
    for _, of_one in trials.groupby("worker_id"):
        rt_ms, ended_ms = of_one["rt"].tolist(), of_one["time_elapsed"].tolist()
        begun_ms = ended_ms[0] - rt_ms[0] - _BEFORE_MS
        parts = pairwise(of_one["exp_stage"])
        pauses = frozenset(n for n, (one, next_) in enumerate(parts, 2) if one != next_)
        answers = (
            SeenAnswer(
                position=number, arrived_ms=ended - begun_ms, rt_ms=rt, waited_ms=0.0,
                input_method=seen, item=str(number), n_characters=60,
                has_onset=True, trusted=True, pointer_moves=0,
            )
            for number, (rt, ended) in enumerate(zip(rt_ms, ended_ms, strict=True), 1)
        )  # fmt: skip
        yield ObservedSession(tuple(answers), automated=False, gap_ms=gap_ms, after_pauses=pauses)


def by_mouse(trials: pd.DataFrame) -> ObservedSession:
    """Return somebody's trials as a session; the time between trials is not in the data."""
    answers, now = [], _BEFORE_MS
    for number, (_, trial) in enumerate(trials.iterrows(), 1):
        xs, ys = (json.loads(trial[f"{axis}pos_get_response"]) for axis in "xy")
        steps = [math.dist(*ends) for ends in pairwise(zip(xs, ys, strict=True))]
        rt_ms = float(trial["response_time"])
        now += rt_ms + BETWEEN_MS
        answers.append(SeenAnswer(
            position=number, arrived_ms=now, rt_ms=rt_ms, waited_ms=0.0, input_method="pointer",
            side="first" if trial["response"] == trial["CategoryLeft"] else "second",
            item=trial["Exemplar"], kind=trial["Condition"],
            pointer_moves=sum(step > 0 for step in steps), pointer_path_px=sum(steps),
            pointer_stopped_ms=max(0.0, rt_ms - rest_ms(trial)),
        ))  # fmt: skip
    return ObservedSession(tuple(answers), automated=False, gap_ms=BETWEEN_MS)


def people_of(times: Path, paths: Path) -> People:
    """Return the sessions of every data set, by what was asked."""
    found = {
        asked: list(timed(pd.read_csv(times / f"{name}.csv.gz", low_memory=False)))
        for name, asked in TIMED.items()
    }
    table = pd.read_csv(paths).sort_values(["subject_nr", "count_trial"])
    return {**found, PATHS: [by_mouse(of_one) for _, of_one in table.groupby("subject_nr")]}


def first(session: ObservedSession, n: int) -> ObservedSession | None:
    """Return the first trials of a session; None where there are fewer."""
    answers = sorted(session.answers, key=lambda one: one.position)[:n]
    return replace(session, answers=tuple(answers)) if len(answers) == n else None


def counts(people: People) -> Iterator[rates.PeopleRate]:
    """Yield how often each signal, and each flag, speaks against people, by data and length."""
    for asked, sessions in people.items():
        names = OF_PATHS if SEEN[asked] == "pointer" else OF_TIMES
        for n in LENGTHS:
            cut = [one for one in (first(each, n) for each in sessions) if one is not None]
            if len(cut) < len(sessions) / 2:
                continue
            spoken = [(nats_of(one), flags(certify(one))) for one in cut]
            for name in names:
                k = sum(
                    name in raised if name in FLAGS else nats.get(name, 0.0) >= SPEAKS_NATS
                    for nats, raised in spoken
                )
                high = exact(k, len(cut))[1]
                yield rates.PeopleRate(asked, SEEN[asked], n, name, k, len(cut), high)


def rows(found: Sequence[rates.PeopleRate]) -> Iterator[str]:
    """Yield the lines of the file of rates."""
    yield "# made by: python benchmarks/people_published.py --write; real people, published data"
    yield "way\tseen\tn_trials\tname\tn_flagged\tn\thigh"
    for one in found:
        figures = (one.way, one.seen, one.n_trials, one.name, one.n_flagged, one.n)
        yield "\t".join(map(str, figures)) + f"\t{one.high:.4f}"


def show(found: Sequence[rates.PeopleRate]) -> None:
    """Print whom each signal speaks against, with the exact 95 % interval."""
    for asked in SEEN:
        of = [one for one in found if one.way == asked]
        lengths = sorted({one.n_trials for one in of})
        people = max((one.n for one in of), default=0)
        print(f"\n{asked}, {SEEN[asked]}: {people} people, the first trials")
        print(f"{'':<18}" + "".join(f"{n:>18}" for n in lengths))
        for name in dict.fromkeys(one.name for one in of):
            cells = [next(one for one in of if (one.name, one.n_trials) == (name, n))
                     for n in lengths]  # fmt: skip
            print(f"{name:<18}" + "".join(f"{_cell(one):>18}" for one in cells))


def _cell(rate: rates.PeopleRate) -> str:
    low, high = exact(rate.n_flagged, rate.n)
    return f"{rate.n_flagged} ({low:.1%}-{high:.1%})"


def main() -> None:
    """Judge the people, print, and keep the rates if told to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=Path, required=True, help="the folder of timed choices")
    parser.add_argument("--paths", type=Path, required=True, help="the file of mouse paths")
    parser.add_argument("--write", action="store_true", help="keep them for the product")
    options = parser.parse_args()
    found = list(counts(people_of(options.times, options.paths)))
    if options.write:
        FILE.write_text("\n".join(rows(found)) + "\n", encoding="utf-8")
    show(found)


if __name__ == "__main__":
    main()
