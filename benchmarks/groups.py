"""Run many groups on one server, with every member requesting everything of other groups.

Usage: python benchmarks/groups.py [--groups 20] [--neighbours 1]

Each group is a project with a run, a member of each role, a token of each scope that its manager
created, and small limits. Every member and program of a group requests every route about a run or a
project: for their own group (read-only routes), and for the next groups. They also request every
page that belongs to no group, including lists and the audit log; the answers are searched for the
other group's name, run and participants. Then each group in turn exhausts its limits of concurrent
participants and open runs, while the next one admits a newcomer. No request for another group's
data may be served, and no answer may name them. The exit status is 1 if anything is found.
"""

import argparse
import logging
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from tests.webapp.users.groups import ROLES, Groups

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
