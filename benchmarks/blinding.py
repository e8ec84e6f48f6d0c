"""Read every output of blind runs, change what people answered, and read them all again.

Usage: python benchmarks/blinding.py [--people 6]

A run of each type of response, one with process traces, one with a deadline and one that mixes
tasks are taken by people. Every page of the room that can be asked for, sorted in every way, every
answer to programs, the export, the report, and every command that takes a run is read. Then, in the
database, times, steps and traces of trials change places, sides and choices are turned, ratings are
mirrored, and another catch trial is the one that was answered wrongly: each person's number of
answers, total time and number of errors on catch trials stay as they are. Of targets the number of
errors changes, and the rules are applied again. All is read once more.
What is not the same, letter by letter, gives something away; so does a line of the log that holds
an answer's id or its time.

One run is on Prolific's stand-in, where somebody is rejected and others are paid: what the platform
is told is compared too. Its bonus depends on catch trials, and it excludes nobody: there each
person's number of errors is changed as well.

The same, but for the report, is done after the run was unblinded: there the program must find
differences. Ends with exit status 1 if a blind run gives anything away, or if an unblinded one
gives nothing.
"""

import argparse
import logging
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from benchmarks.blind.exchange import exchange, judge_again
from benchmarks.blind.outputs import Reader, differences
from benchmarks.blind.studies import KINDS, PAID
from benchmarks.blind.world import NOW, World

_ROW = "{:<16} {:>8} {:>8} {:>10} {:>12} {:>16}"


def main() -> None:
    """Print a line for each kind of run, and what was given away."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--people", type=int, default=6, help="in each run")
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), help="of runs; all by default")
    options = parser.parse_args()
    logging.getLogger("werkzeug").disabled = True
    print(_ROW.format("", "people", "changed", "outputs", "given away", "once unblinded"))
    gave, silent = [], []
    for kind in options.kinds:
        with tempfile.TemporaryDirectory() as folder:
            world = World(Path(folder), kind, options.people)
            reader = Reader(world)
            before = reader.read()
            n_outputs = len(before)
            changed = exchange(world.sessions, errors=kind == PAID)
            judge_again(world.sessions, NOW)
            blind = [*differences(before, reader.read()), *world.told_by_the_log()]
            world.unblind()
            before = reader.read(report=False)
            exchange(world.sessions, errors=kind == PAID)
            seen = differences(before, reader.read(report=False))
            world.close()
        print(_ROW.format(kind, options.people, changed, n_outputs, len(blind), len(seen)))
        gave += [f"{kind}: {each}" for each in blind]
        silent += [] if seen else [kind]
    print(f"given away while blind: {len(gave)}", *gave[:20], sep="\n")
    sys.exit(1 if gave or silent else 0)


if __name__ == "__main__":
    main()
