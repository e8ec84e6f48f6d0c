"""Compare all outputs of blind runs before and after changes to participants' answers.

Usage: python benchmarks/blinding.py [--people 6]

Simulated participants take one run for each response type, one with process traces, one with a
deadline and one that mixes tasks. The benchmark reads every page of the room in every sort order,
every API answer, the export, the report, and the output of every command on a run. Then it changes
the database: it permutes times, steps and traces among trials, flips sides and choices, mirrors
ratings, and moves the wrong answer to another catch trial. Each participant's number of answers,
total time and number of catch-trial errors stay the same. For targets, the number of errors
changes, and the exclusion rules are applied again. Then it reads everything a second time.
Any difference between the two readings reveals something about the answers; so does a line of the
log with an answer's id or its time.

One run is on the Prolific stand-in, with one rejected participant and several paid ones: the calls
to the platform are compared, too. Its bonus depends on catch trials, and it excludes nobody, so
the number of catch-trial errors of each participant is changed as well.

For each kind of exclusion rule that counts targets, there is a run with that rule and another one.
Every answer to a target is turned, so that other rules exclude, with other figures; nothing may
differ while who is kept stays the same. Then the verdicts change as well: nothing may
differ but who is kept, and how many.

The same comparison, without the report, is repeated after the run is unblinded; it must then find
differences. Of the runs with a rule, whose trials are those of other runs, it then reads only what
is about participants. The exit status is 1 if a blind run reveals anything, or if an unblinded one
reveals nothing.
"""

import argparse
import logging
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from benchmarks.blind.exchange import exchange, judge_again, turn_targets
from benchmarks.blind.outputs import Reader, differences, without_verdicts
from benchmarks.blind.studies import KINDS, PAID, RULE_KINDS
from benchmarks.blind.world import NOW, World

_OF_PARTICIPANTS = "participants|decisions|film|^export"
_ROW = "{:<29} {:>8} {:>8} {:>10} {:>12} {:>16}"


def main() -> None:
    """Print a line for each kind of run, and what was given away."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--people", type=int, default=6, help="in each run")
    parser.add_argument(
        "--kinds", nargs="*", default=[*KINDS, *RULE_KINDS], help="of runs; all by default"
    )
    options = parser.parse_args()
    logging.getLogger("werkzeug").disabled = True
    print(_ROW.format("", "people", "changed", "outputs", "given away", "once unblinded"))
    gave, silent, n_compared = [], [], 0
    for kind in options.kinds:
        with tempfile.TemporaryDirectory() as folder:
            world = World(Path(folder), kind, options.people)
            reader = Reader(world)
            before = reader.read()
            of_rule = kind in RULE_KINDS
            n_outputs = len(before) * (2 if of_rule else 1)
            if of_rule:
                changed = turn_targets(world.sessions)
            else:
                changed = exchange(world.sessions, errors=kind == PAID)
            judge_again(world.sessions, NOW)
            blind = [*differences(before, reader.read()), *world.told_by_the_log()]
            if of_rule:
                judge_again(world.sessions, NOW, flips=True)
                before, after = map(without_verdicts, (before, reader.read()))
                blind += differences(before, after)
            world.unblind()
            some = _OF_PARTICIPANTS if of_rule else ""
            before = reader.read(report=False, only=some)
            exchange(world.sessions, errors=kind == PAID)
            seen = differences(before, reader.read(report=False, only=some))
            world.close()
        row = _ROW.format(kind, options.people, changed, n_outputs, len(blind), len(seen))
        print(row, flush=True)
        n_compared += n_outputs
        gave += [f"{kind}: {each}" for each in blind]
        silent += [] if seen else [kind]
    n_rules = len(set(options.kinds) & set(RULE_KINDS))
    print(
        f"given away while blind: {len(gave)} of {n_compared:,} outputs, in "
        f"{len(options.kinds)} kinds of runs, of which {n_rules} have a rule that counts targets",
        *gave[:20], sep="\n",
    )  # fmt: skip
    sys.exit(1 if gave or silent else 0)


if __name__ == "__main__":
    main()
