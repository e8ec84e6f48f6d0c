"""A machine uses up an address's arrivals of the hour: who of a class comes in all the same.

Usage: python benchmarks/crowding_hour.py [--places 240] [--people 200]

From one address 1000 people may arrive in an hour (`arrivals_per_hour`). Some of a class begin;
then a machine at their own address opens browsers until it is refused, and tries on ten times a
second; then the others come, by the run's link, by personal links or access codes, from an address
of their own, or an hour later, when the machine has ended. The clock is passed in, and the class
answers a trial a minute. Printed is how many came, were in when they came, and finished.
"""

import argparse
import logging
import tempfile
from pathlib import Path

from crowding import LEASE_S, MACHINE, MINUTE_S, SCHOOL, TRIALS, Browser, Clock, Crowd, Installation

from webapp.core.clock import utc_now
from webapp.runs.links import make_links
from webapp.runs.runs import named_run
from webapp.sessions.lookup import CODE, PARAMETER, SINGLE

_TRIES = 600
_WAYS = ("began before the machine", "by the run's link", "by personal links", "by access codes",
         "from another address", "an hour later")  # fmt: skip


def by_link(lab: Installation, kind: str, people: int) -> list[Browser]:
    """Let each of a class come by a link or a code of their own; return those who are in."""
    with lab.services.sessions.begin() as session:
        run = named_run(session, lab.run_ref)
        labels = [str(number) for number in range(people)]
        tokens = [link.token for link in make_links(session, run, kind, labels, [None], utc_now())]
    came = [Browser(lab.app, f"{lab.run_ref}?{PARAMETER}={token}", MACHINE) for token in tokens]
    return [browser for browser in came if browser.arrive()]


def meet(folder: Path, places: int, people: int, way: str) -> tuple[int, int]:
    """Let a class come as one of the ways says; return how many are in, and how many finish."""
    clock = Clock()
    lab = Installation(folder, places, clock)
    machine = Crowd(lab, MACHINE)
    of_class = Crowd(lab, SCHOOL if way == "from another address" else MACHINE)
    if way == "began before the machine":
        for _ in range(people):
            of_class.come()
    before = -1
    while len(machine.inside) > before:
        before = len(machine.inside)
        machine.come(Browser.answer)
    if way == "an hour later":
        clock.go_on(LEASE_S)
    for _ in range(_TRIES if way != "an hour later" else 0):
        machine.come()
        clock.go_on(MINUTE_S / _TRIES)
    if way in ("by personal links", "by access codes"):
        of_class.inside = by_link(lab, SINGLE if "links" in way else CODE, people)
    elif way != "began before the machine":
        for _ in range(people):
            of_class.come()
    for _ in range(TRIALS - 1):
        clock.go_on(MINUTE_S)
        for browser in of_class.inside:
            browser.answer(1)
    for browser in of_class.inside:
        browser.finish()
    return len(of_class.inside), lab.finished(of_class.tokens)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--places", type=int, default=240)
    parser.add_argument("--people", type=int, default=200, help="in the class")
    options = parser.parse_args()
    logging.disable()
    print(f"a machine used up the arrivals of an hour from the address of a class of"
          f" {options.people}")  # fmt: skip
    print(f"{'the class came':<28}{'in':>6}{'finished':>10}")
    with tempfile.TemporaryDirectory() as name:
        for number, way in enumerate(_WAYS):
            are_in, finished = meet(Path(name) / str(number), options.places, options.people, way)
            print(f"{way:<28}{are_in:>6}{finished:>10}", flush=True)


if __name__ == "__main__":
    main()
