"""Measure how often honest people are flagged: by type of response, input, network and length.

Usage: python benchmarks/types_flagged.py [--people 400] [--processes 2] [--write]

Each session is a simulated person's (``agent_bench/people.py``) who answers trials of one type in
one way of input over one network. What the page reports of a trial goes through the type's own
account of its time (``time_outside_rt_ms``, ``gives``), so a type that leaves out a part of its
trials is found here. Everybody's session is sent over every network and judged over its first 8, 24
and 76 trials, so the people of a cell differ, and neighbouring cells share theirs. The signs
``automated`` and ``copied`` are left out: they are direct evidence, of a laboratory's driven
browsers too. ``--write`` saves every cell in ``results/types_flagged.csv``, and of each sign the
worst cell of each type, input method and length in ``experiment/integrity/types.tsv``, from which
the product decides where a sign counts.

What the devices do, and where it is described:

- dwell: the pointer rests for 0.2 to 3 s, and software clicks (1.2 s by default in Mousetweaks,
  help.gnome.org/users/mousetweaks; 0.2 and 0.4 s in Mind Express 5, jabblasoft.com).
- switch: scanning comes by the option within 0.5 to 3 s, or a tap is taken after 0.75 s (Auto Tap,
  iPad User Guide for iOS 7, Switch Control). The intervals of scanning are chosen.
- screen reader: the painted texts are read aloud at 80 to 390 words a minute, the range of NVDA
  with eSpeak (C. Strobbe, w3c-wai-ig, 11 May 2017), that is 26 to 125 ms a character.
- voice: recognised within 0.5 to 1.5 s, then ``element.click()``: no pointer, not trusted (chosen).
- networks: round trips of 40 ms, of 150 and 300 ms (Lighthouse's slow 4G and regular 3G,
  docs/throttling.md), of 2 s (DevTools' slow 3G), and two minutes without a connection.

Nobody was observed with these devices. How long people rest, read and think is chosen, too.
"""

import argparse
import csv
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import log
from multiprocessing import Pool
from pathlib import Path

from agent_bench.people import Person, Shown
from people_flagged import exact

from experiment.exclusion.integrity import flags
from experiment.integrity import rates
from experiment.integrity.certificate import DIRECT, SIGNALS, certify, signals
from experiment.integrity.observed import ObservedAnswer, ObservedSession
from experiment.records import Side, Steps
from experiment.responses.answer import GivenAnswer, Gives
from experiment.responses.base import ResponseType
from experiment.responses.reading.maze import Maze
from experiment.responses.reading.reading import Read
from experiment.responses.registry import load_response, response_of
from experiment.studies.load import load_study

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"
LENGTHS = (8, 24, 76)
CELLS = Path(__file__).parent / "results" / "types_flagged.csv"
WORST = Path(rates.__file__).with_name("types.tsv")
SIGNS = (
    *("impossible_time", "timing_mismatch", rates.SCORE_NAME),
    *(name for name in SIGNALS if name not in DIRECT),
)
LOCKOUT_MS, FRAME_MS = 150.0, 17.0
# Of every word of the Maze, and of every trial: a wrong choice, a nap of the computer, a look away.
_WRONG, _SLEEPS, _HIDDEN = 0.05, 0.002, 0.01


@dataclass(frozen=True, slots=True)
class Way:
    """A way of input: the habits of its people, what the server sees, and each press's delay."""

    habits: str
    seen: str
    delay_ms: Callable[[random.Random], float]
    trusted: bool = True
    aloud: bool = False


WAYS: Mapping[str, Way] = {
    "mouse": Way("mouse", "pointer", lambda _: 0.0),
    "touch": Way("touch", "touch", lambda _: 0.0),
    "keyboard": Way("keyboard", "key", lambda _: 0.0),
    "voice": Way("keyboard", "key", lambda rng: rng.uniform(500, 1500), trusted=False),
    "switch": Way("keyboard", "key", lambda rng: max(750.0, rng.uniform(0, 3000))),
    "dwell": Way("mouse", "pointer", lambda rng: rng.uniform(200, 3000)),
    "screen reader": Way("keyboard", "key", lambda _: 0.0, aloud=True),
}
# The round trip in milliseconds, and whether the connection is lost for two minutes.
NETWORKS: Mapping[str, tuple[float, bool]] = {
    "40 ms": (40.0, False),
    "150 ms": (150.0, False),
    "300 ms": (300.0, False),
    "2 s": (2000.0, False),
    "150 ms, lost for two minutes": (150.0, True),
}


@dataclass(frozen=True, slots=True)
class Taken:
    """One trial: the answer that is stored, the time that is claimed, and the time that passes."""

    given: GivenAnswer
    rt_ms: float
    passed_ms: float


class Participant:
    """One person with one way of input, in front of one type of response after the other."""

    def __init__(self, way: Way, rng: random.Random) -> None:
        self._way, self._rng = way, rng
        self._person = Person(way.habits, rng, LOCKOUT_MS)
        self._word_ms = rng.lognormvariate(log(400), 0.3)
        self._rest_ms = rng.lognormvariate(log(1200), 0.8)
        self._aloud_ms = rng.uniform(26, 125) if way.aloud else 0.0

    def takes(self, type_: ResponseType, position: int) -> Taken:
        """Return a trial of a type as the page reports it, and how long it took."""
        if type_.types:
            type_ = self._rng.choice(list(type_.types.values()))
        if isinstance(type_, Read):
            return self._reads(type_)
        n_presses = len(type_.named_scales) or 1
        rng = self._rng
        trial = Shown("item", "kind", rng.randint(50, 150), 2.0, rng.gauss(0, 0.1))
        rt_ms = self._person.rt_ms(position, trial) + self._press_ms(trial.n_characters)
        rt_ms += sum(self._press_ms(20, 1200.0) for _ in range(n_presses - 1))
        is_rated = Gives.POINT in type_.gives
        given = GivenAnswer(rating=3) if is_rated else GivenAnswer(side=Side.FIRST)
        return Taken(given, rt_ms, rt_ms)

    def _press_ms(self, n_characters: int, thinks_ms: float = 0.0) -> float:
        """Return how long somebody needs for a press after a text of so many characters."""
        rng = self._rng
        thinks_ms *= rng.lognormvariate(0, 0.5)
        return thinks_ms + self._aloud_ms * n_characters + self._way.delay_ms(rng)

    def _reads(self, type_: Read) -> Taken:
        rng, is_maze = self._rng, isinstance(type_, Maze)
        contexts = 0 if is_maze else rng.choice((0, 1))
        # The masked sentence, and a context before it in half of the trials.
        waits_ms = [] if is_maze else [self._press_ms(20, self._rest_ms)]
        waits_ms += [self._press_ms(60, 3 * self._rest_ms)] * contexts
        times, done, wrong, ended = [], [], [], False
        for _ in range(rng.randint(4, 12)):
            factor = 2.0 if is_maze else 1.0
            times.append(self._press_ms(12 if is_maze else 6, factor * self._word_ms))
            wrong.append(int(is_maze and rng.random() < _WRONG))
            done.append(times[-1] + wrong[-1] * self._press_ms(6, 700.0))
            ended = bool(wrong[-1]) and isinstance(type_, Maze) and type_.on_error == "end"
            if ended:
                break
        rates = Gives.POINT in type_.gives
        is_asked = not ended and (rates or rng.random() < 0.5)
        question_ms = self._press_ms(80, 2500.0) if is_asked else None
        passing = done if is_maze and not ended else times
        onsets = [sum(passing[:n]) + FRAME_MS * n for n in range(len(passing))]
        rt_ms = onsets[-1] + passing[-1]
        steps = Steps(
            tuple(onsets), tuple(times), "p" * len(times), (4.0,) * len(times),
            tuple(wrong) if is_maze else (), tuple(done) if is_maze else (),
            question_ms, sum(waits_ms) if waits_ms else None,
        )  # fmt: skip
        given = GivenAnswer(
            side=Side.FIRST if is_asked and not rates else None,
            rating=3 if rates else None,
            steps=steps,
        )
        pause_ms = float(type_.delay_ms) if ended and isinstance(type_, Maze) else 0.0
        frames_ms = FRAME_MS * (len(waits_ms) + is_asked)
        passed_ms = sum(waits_ms) + rt_ms + (question_ms or 0.0) + pause_ms + frames_ms
        return Taken(given, rt_ms, passed_ms)


@dataclass(frozen=True, slots=True)
class Worked:
    """One trial as its person worked on it, before any network: an answer, and what passed."""

    taken: Taken
    of_trial: ResponseType
    asleep_ms: float
    was_hidden: bool


def work(type_: ResponseType, way: Way, rng: random.Random) -> list[Worked]:
    """Return what somebody does in a session of 76 trials."""
    who, worked = Participant(way, rng), []
    for position in range(1, LENGTHS[-1] + 1):
        taken = who.takes(type_, position)
        # The page's clock may stand still while the computer sleeps.
        asleep_ms = 600_000 if rng.random() < _SLEEPS else 0.0
        is_hidden = rng.random() < _HIDDEN
        worked.append(Worked(taken, _type_of(type_, taken.given), asleep_ms, is_hidden))
    return worked


def send(
    worked: Iterable[Worked], way: Way, network: tuple[float, bool], rng: random.Random
) -> ObservedSession:
    """Return what the server sees of a session over a network."""
    round_trip_ms, is_lost = network
    now, free, lost_from = rng.uniform(8_000, 60_000), 0.0, rng.randrange(LENGTHS[0])
    back, answers = 0.0, []
    for position, trial in enumerate(worked, start=1):
        taken, of_trial = trial.taken, trial.of_trial
        now += taken.passed_ms + FRAME_MS + trial.asleep_ms
        if is_lost and position == lost_from:
            back = now + 120_000
        sent = max(now, free, back)
        there, returns = (round_trip_ms / 2 * rng.lognormvariate(0, 0.6) for _ in range(2))
        free = sent + there + returns
        answers.append(
            ObservedAnswer(
                position=position,
                arrived_ms=sent + there,
                rt_ms=taken.rt_ms,
                outside_rt_ms=of_trial.time_outside_rt_ms(taken.given),
                one_press=Gives.ONE_PRESS in of_trial.gives,
                type_name=of_trial.name,
                release_ms=None,
                waited_ms=sent - now,
                input_method=way.seen,
                side="first",
                has_onset=True,
                trusted=way.trusted,
                times_shown=1,
                seen_before_ms=0.0,
                pointer_moves=0,
                pointer_path_px=0.0,
                was_hidden=trial.was_hidden,
                lost_focus=False,
            )
        )
    return ObservedSession(tuple(answers), automated=False, lockout_ms=LOCKOUT_MS, n_copied=0)


def _type_of(type_: ResponseType, given: GivenAnswer) -> ResponseType:
    """Return the type of a trial: in a mixed session, that of the task whose answer this is."""
    if not type_.types:
        return type_
    is_read = given.steps is not None
    return next(one for one in type_.types.values() if isinstance(one, Read) == is_read)


def speaks(seen: ObservedSession) -> set[str]:
    """Return the flags and signs that speak against somebody."""
    raised = flags(certify(seen))
    found = {rates.SCORE_NAME if name == "agent_likelihood" else name for name in raised}
    return found | {name for name, spoken in signals(seen).items() if spoken and name not in DIRECT}


def types() -> Iterator[tuple[str, ResponseType]]:
    """Yield each type of response with the parameters of its example."""
    yield "sentence_pair", load_response("sentence_pair", {})
    yield "prefix_completion", load_response("prefix_completion", {})
    yield "option_list", load_response("option_list", {})
    rated = load_study(str(EXAMPLES / "given_lists"))
    yield "rating", response_of(rated)
    for name in ("scales", "yes_no", "self_paced", "read_then_rate", "maze"):
        yield name, response_of(load_study(str(EXAMPLES / name)))
    maze = response_of(load_study(str(EXAMPLES / "maze")))
    yield "maze, one goes on", maze.model_copy(update={"on_error": "delay"})
    yield "mixed", response_of(load_study(str(EXAMPLES / "mixed")))


@dataclass(frozen=True, slots=True)
class Cell:
    """The people of one type, way of input, network and length, and how many each sign flags."""

    type_name: str
    way: str
    network: str
    n_trials: int
    n: int
    flagged: Mapping[str, int]


def count(type_name: str, way: str, people: int, seed: str) -> list[Cell]:
    """Return the cells of a type and a way of input: one for each network and length."""
    type_, cells = dict(types())[type_name], Counter[tuple[str, int, str]]()
    for number in range(people):
        rng = random.Random(f"{seed} {type_name} {way} {number}")
        worked = work(type_, WAYS[way], rng)
        for network, connection in NETWORKS.items():
            seen = send(worked, WAYS[way], connection, rng)
            for n in LENGTHS:
                found = speaks(replace(seen, answers=seen.answers[:n]))
                cells.update((network, n, name) for name in found)
    return [
        Cell(type_name, way, network, n, people, {name: cells[network, n, name] for name in SIGNS})
        for network in NETWORKS
        for n in LENGTHS
    ]


def write(cells: Sequence[Cell]) -> None:
    """Save every cell for readers, and the worst ones for the product."""
    with CELLS.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(
            ["type", "input", "network", "trials", "sessions"]
            + [f"{name}{part}" for name in SIGNS for part in ("", "_low", "_high")]
        )
        for cell in cells:
            spans = [
                shown
                for name in SIGNS
                for shown in (
                    cell.flagged[name],
                    *(f"{end:.4f}" for end in exact(cell.flagged[name], cell.n)),
                )
            ]
            rows.writerow([cell.type_name, cell.way, cell.network, cell.n_trials, cell.n, *spans])
    WORST.write_text("\n".join(_worst_rows(cells)) + "\n", encoding="utf-8")


def _worst_rows(cells: Sequence[Cell]) -> Iterator[str]:
    yield "# made by: python benchmarks/types_flagged.py --write; simulated people and devices"
    yield "type\tseen\tn_trials\tname\tway\tnetwork\tn_flagged\tn\thigh"

    def group(cell: Cell) -> tuple[str, str, int]:
        return cell.type_name.partition(",")[0], WAYS[cell.way].seen, cell.n_trials

    for (type_name, seen, n_trials), alike in groupby(sorted(cells, key=group), key=group):
        members = list(alike)
        for name in SIGNS:
            worst = max(members, key=lambda cell: cell.flagged[name])
            n_flagged = worst.flagged[name]
            where = (worst.way, worst.network) if n_flagged else ("any", "any")
            high = exact(n_flagged, worst.n)[1]
            fields = (type_name, seen, n_trials, name, *where, n_flagged, worst.n, f"{high:.4f}")
            yield "\t".join(map(str, fields))


def show(cells: Sequence[Cell]) -> None:
    """Print, for each type and sign, its worst cell."""
    print(f"| Type of response | {' | '.join(f'`{name}`' for name in SIGNS)} |")
    print("|---|" + "---|" * len(SIGNS))
    for type_name, alike in groupby(cells, key=lambda cell: cell.type_name):
        members = list(alike)
        shown = (_show_worst(members, name) for name in SIGNS)
        print(f"| `{type_name}` | {' | '.join(shown)} |")
    people = cells[0].n
    counting = max(exact(cell.flagged[name], cell.n)[1] for cell in cells for name in SIGNS)
    print(
        f"\n{len(cells)} cells of {people} people: {', '.join(WAYS)};"
        f" {', '.join(NETWORKS)}; {', '.join(map(str, LENGTHS))} trials."
        f" The greatest upper limit of a sign in a cell is {counting:.2%}."
    )


def _show_worst(cells: Sequence[Cell], name: str) -> str:
    worst = max(cells, key=lambda cell: cell.flagged[name])
    n_flagged = worst.flagged[name]
    high = f"at most {exact(n_flagged, worst.n)[1]:.1%}"
    if not n_flagged:
        return f"0, {high}"
    return f"{n_flagged}, {high} ({worst.way}, {worst.network}, {worst.n_trials} trials)"


def main() -> None:
    """Measure, print the worst cells, and keep all of them if told to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=400, help="of each type and way of input")
    parser.add_argument("--seed", default="2067")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="keep the cells for the product")
    options = parser.parse_args()
    jobs = [(name, way, options.people, options.seed) for name, _ in types() for way in WAYS]
    with Pool(options.processes) as pool:
        cells = [cell for found in pool.starmap(count, jobs, chunksize=1) for cell in found]
    if options.write:
        write(cells)
    show(cells)


if __name__ == "__main__":
    main()
