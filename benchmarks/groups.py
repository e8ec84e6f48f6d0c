"""Let many groups share a server, and let everybody of each ask for everything of the others.

Usage: python benchmarks/groups.py [--groups 20] [--neighbours 1]

Each group is a project with a run, a member of each role, a token of each scope that its manager
made, and small limits. Everybody of a group, programs included, asks every route that is about a
run or a project: for their own (what only shows something), and for that of the next groups. They
also ask for every page that belongs to no group, lists and the audit log among them; what is served
is searched for the other group's name, run and people. Then each group uses up its limits of people
at work and of open runs, one after the other, while the next one takes a newcomer. No request for
another group's things may be served, and no answer may name them. Ends with exit status 1 if
anything is found.
"""

import argparse
import logging
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from tests.webapp.projects.groups import ROLES, Groups

_KINDS = ("own yes", "own no", "other yes", "other no", "in common")
_ROW = "{:<14} {:>12} {:>8} {:>15} {:>8} {:>10}"


def main() -> None:
    """Print how many requests were made, and what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--groups", type=int, default=20)
    parser.add_argument("--neighbours", type=int, default=1, help="asked about by each")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    counted, found = Counter[tuple[str, str]](), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        groups = Groups(Path(folder) / "instance", options.groups)
        for number in range(options.groups):
            for step in range(options.neighbours + 1):
                found += groups.walk(number, (number + step) % options.groups, counted)
        refused, taken, more = groups.use_up()
        found += more
        groups.close()
    print(f"{options.groups} groups, {len(groups.everybody(0))} who ask in each")
    print(_ROW.format("who", "own: served", "refused", "others: served", "refused", "in common"))
    for who in (*ROLES, "tokens"):
        of_it = [counted[who, each] for each in _KINDS]
        print(_ROW.format(who, *of_it))
    print(f"beyond their own limits: {refused} refused; meanwhile taken by others: {taken}")
    print(f"found: {len(found)}", *found[:20], sep="\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
