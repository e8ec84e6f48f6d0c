"""Measure how long hostile input from one project delays a participant of another.

Usage: python benchmarks/hostile.py [--inputs 16] [--fields FIELD ...]
           [--quiet-study marvin_linzen_2018]

`parallax serve` runs with its defaults. A participant of project B requests a page or stores an
answer every 50 ms. A member of project A, and strangers at its runs, send hostile inputs one at a
time: so many for each field that the server computes on. The excess of an input is B's slowest
request while it is answered, at least for a second, minus B's slowest request in an equally long
time without input: directly before, and, as far as the input takes longer than the one before it,
directly after. An input with an excess above 250 ms is sent twice again, since the machine itself
causes such delays.

The exit status is 1 if an input ended in a fault (a server error, a trace or a path of the server),
if a request of B failed, or if an input delayed B by more than 250 ms in both repetitions.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from hostile_inputs.attacker import FAULT, REFUSED, TAKEN, Attacker
from hostile_inputs.inputs import FIELDS, Input
from hostile_inputs.quiet import Quiet
from hostile_inputs.site import QUIET, Installation

LIMIT_S, SHORTEST_S, REPETITIONS = 0.25, 1.0, 2
_ROW = "{:<28} {:>7} {:>7} {:>8} {:>6} {:>10} {:>8} {:>9}"


@dataclass
class Measured:
    """What became of inputs.

    Attributes:
        excess_s: Each input's excess when it was sent first.
        outcomes: How many were taken, refused, or ended in a fault.
        found: The faults and the delays that came again.
        n_delays: How many delays came again.
    """

    excess_s: list[float] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    found: list[str] = field(default_factory=list)
    n_delays: int = 0

    def excess_ms(self, share: float) -> float:
        """Return a quantile of the excess in ms."""
        ordered = sorted(self.excess_s)
        return 1000 * ordered[round(share * (len(ordered) - 1))]

    def row(self, name: str) -> str:
        """Return a line of the table, with the excess in ms."""
        outcomes = (self.outcomes[kind] for kind in (TAKEN, REFUSED, FAULT))
        shown = (f"{self.excess_ms(share):.0f}" for share in (0.5, 0.95, 1))
        return _ROW.format(name, len(self.excess_s), *outcomes, *shown)


class Campaign:
    """Sends inputs, and looks at the quiet client meanwhile."""

    def __init__(self, attacker: Attacker, quiet: Quiet) -> None:
        self._attacker, self._quiet, self._expected_s = attacker, quiet, SHORTEST_S

    def send(self, name: str, sent: Input, measured: Measured) -> None:
        """Send an input, again if it may have delayed the quiet client, and note what came."""
        excess_s, outcome, problems = self._excess(sent)
        measured.excess_s.append(excess_s)
        measured.outcomes[outcome] += 1
        what = f"{name}, {sent[0]}"
        measured.found += [f"{what}: {problem}" for problem in problems]
        if excess_s > LIMIT_S:
            again = [self._excess(sent)[0] for _ in range(REPETITIONS)]
            shown = ", ".join(f"{1000 * each:.0f}" for each in (excess_s, *again))
            print(f"{what}: {shown} ms", file=sys.stderr, flush=True)
            if min(again) > LIMIT_S:
                measured.n_delays += 1
                measured.found.append(f"{what}: delayed by {shown} ms")

    def _excess(self, sent: Input) -> tuple[float, str, list[str]]:
        calm = time.monotonic()
        time.sleep(self._expected_s)
        begun = time.monotonic()
        sent[1](self._attacker)
        took_s = max(SHORTEST_S, time.monotonic() - begun)
        time.sleep(max(0.0, begun + took_s - time.monotonic()))
        ended = begun + took_s
        during_s = self._quiet.slowest_s(begun, ended)
        without_s = self._quiet.slowest_s(max(calm, begun - took_s), begun)
        if took_s > self._expected_s:
            after = time.monotonic()
            time.sleep(took_s - self._expected_s)
            without_s = max(without_s, self._quiet.slowest_s(after, time.monotonic()))
        self._expected_s = took_s
        problems = self._attacker.problems
        return during_s - without_s, self._attacker.outcome(), problems


def main() -> None:
    """Print a line for each field, and what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--inputs", type=int, default=16, help="of each field; drawn if it has more"
    )
    parser.add_argument("--fields", nargs="*", default=list(FIELDS), choices=list(FIELDS))
    parser.add_argument("--quiet-study", default="marvin_linzen_2018", help="a built-in one")
    options = parser.parse_args()
    print(_ROW.format("", "inputs", "taken", "refused", "fault", "median ms", "p95 ms", "max ms"))
    whole = Measured()
    with tempfile.TemporaryDirectory() as folder:
        at = Installation(Path(folder), options.quiet_study)
        try:
            attacker = Attacker(at)
            with Quiet(at.site, at.runs[QUIET], Path(folder) / "quiet") as quiet:
                campaign = Campaign(attacker, quiet)
                for name in options.fields:
                    measured, inputs = Measured(), list(FIELDS[name]())
                    drawn = random.Random(1).sample(inputs, min(options.inputs, len(inputs)))
                    for sent in drawn:
                        campaign.send(name, sent, measured)
                    print(measured.row(name), flush=True)
                    whole.excess_s += measured.excess_s
                    whole.outcomes += measured.outcomes
                    whole.found += measured.found
                    whole.n_delays += measured.n_delays
                n_requests, n_failed = quiet.requests, quiet.failed
            attacker.close()
        finally:
            at.close()
    print(whole.row("all"))
    print(
        f"{len(whole.excess_s)} inputs: {whole.outcomes[TAKEN]} taken, "
        f"{whole.outcomes[REFUSED]} refused, {whole.outcomes[FAULT]} faults",
        f"{n_requests:,} requests of the other project, {n_failed} failed; their excess in ms: "
        f"median {whole.excess_ms(0.5):.0f}, 95% {whole.excess_ms(0.95):.0f}, "
        f"largest {whole.excess_ms(1):.0f}",
        f"above 250 ms in two of two repetitions: {whole.n_delays}", *whole.found[:20], sep="\n",
    )  # fmt: skip
    sys.exit(bool(whole.found or n_failed))


if __name__ == "__main__":
    main()
