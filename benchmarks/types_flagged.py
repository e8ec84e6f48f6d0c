"""Measure how often honest people are flagged, by type of response, way of input and network.

Usage: python benchmarks/types_flagged.py [--people 400]

Each session is a simulated person's (``agent_bench/people.py``) who answers trials of one type in
one way of input over one network. What the page reports of a trial goes through the type's own
account of its time (``time_outside_rt_ms``, ``gives``), so a type that leaves out a part of its
trials is found here. A session counts as flagged if any flag is raised, or any sign speaks, over
its first 8, 24 or 76 trials. The signs ``automated`` and ``copied`` are left out: they are direct
evidence, of a laboratory's driven browsers too.

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
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import log
from pathlib import Path

from agent_bench.people import Person, Shown
from people_flagged import exact

from experiment.exclusion.integrity import flags
from experiment.integrity.certificate import DIRECT, certify, signals
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


def session(
    type_: ResponseType, way: Way, network: tuple[float, bool], rng: random.Random
) -> ObservedSession:
    """Return what the server sees of somebody's session of 76 trials."""
    who, (round_trip_ms, is_lost) = Participant(way, rng), network
    now, free, lost_from = rng.uniform(8_000, 60_000), 0.0, rng.randrange(LENGTHS[0])
    back, answers = 0.0, []
    for position in range(1, LENGTHS[-1] + 1):
        taken = who.takes(type_, position)
        of_trial = _type_of(type_, taken.given)
        # The page's clock may stand still while the computer sleeps.
        now += taken.passed_ms + FRAME_MS + (600_000 if rng.random() < _SLEEPS else 0.0)
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
                was_hidden=rng.random() < _HIDDEN,
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
    """Return what speaks against somebody over their first trials, whichever number of them."""
    found: set[str] = set()
    for n in LENGTHS:
        first = replace(seen, answers=seen.answers[:n])
        found |= set(flags(certify(first)))
        found |= {name for name, spoken in signals(first).items() if spoken and name not in DIRECT}
    return found


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


def main() -> None:
    """Measure, and print a row for each type with its worst way of input."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=400, help="of each type and way of input")
    parser.add_argument("--seed", default="2067")
    options = parser.parse_args()
    by_network: dict[str, Counter[str]] = {name: Counter() for name in NETWORKS}
    reasons: Counter[str] = Counter()
    print("| Type of response | Worst way of input | Sessions | Flagged | At most (95 %) |")
    print("|---|---|---:|---:|---:|")
    for name, type_ in types():
        flagged = dict.fromkeys(WAYS, 0)
        for way in WAYS:
            for number in range(options.people):
                rng = random.Random(f"{options.seed} {name} {way} {number}")
                network = list(NETWORKS)[number % len(NETWORKS)]
                found = speaks(session(type_, WAYS[way], NETWORKS[network], rng))
                flagged[way] += bool(found)
                reasons.update(found)
                by_network[network].update({"sessions": 1, "flagged": bool(found)})
        worst = max(flagged, key=lambda way: flagged[way])
        shown = worst if flagged[worst] else "none is worse"
        high = exact(flagged[worst], options.people)[1]
        print(
            f"| `{name}` | {shown} | {options.people} | {flagged[worst]} | {high:.1%} |", flush=True
        )
    print(f"\nof each way of input ({', '.join(WAYS)}); what spoke: {dict(reasons) or 'nothing'}")
    for network, counts in by_network.items():
        high = exact(counts["flagged"], counts["sessions"])[1]
        print(
            f"round trips of {network}: {counts['flagged']} of {counts['sessions']} sessions"
            f" flagged, at most {high:.2%}"
        )


if __name__ == "__main__":
    main()
