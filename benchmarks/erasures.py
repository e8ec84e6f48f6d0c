"""Run random sequences of erasures, backups, restores and crashes; search for erased data.

Usage: python benchmarks/erasures.py [--sequences 200] [--first 0] [--postgresql]

Each sequence starts with two participants and a backup, followed by twelve random steps: arrive,
withdraw, erase, request erasure of all data, correct an answer, restrict or release the use of
one's data, back up, copy the file, restore a backup or a copy, crash between the record and the
database, or let hours pass. Afterwards the benchmark searches every table, an export, a new backup,
the backups made after a request, and every byte of the instance folder and of PostgreSQL's cluster
(log included) for participants who asked to be erased. All other participants must have their
latest correction and restriction. The exit status is 1 if anything is found.
"""

import argparse
import logging
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from tests.prerequisites import POSTGRESQL
from tests.temporary import keep_in_memory
from tests.webapp.erasures.sequences import FORGETFUL, begin, new_world, play
from tests.webapp.postgres import PostgresServer, postgres_server


def main() -> None:
    """Play the sequences, print what was found, and end with 1 if it is anything."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sequences", type=int, default=200, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first one's seed")
    parser.add_argument("--postgresql", action="store_true", help="on PostgreSQL, not SQLite")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    keep_in_memory()
    seeds = range(arguments.first, arguments.first + arguments.sequences)
    if arguments.postgresql:
        assert POSTGRESQL.find(), "PostgreSQL is needed"
        with postgres_server(settings=FORGETFUL) as server:
            found, told, wishes = campaign(seeds, server)
    else:
        found, told, wishes = campaign(seeds, None)
    acts = ", ".join(f"{n} {name}" for name, n in sorted(told.items()))
    kinds = ", ".join(f"{n} {name}" for name, n in sorted(wishes.items()))
    print(f"{arguments.sequences} sequences: {acts}; people who asked to be out: {kinds}")
    print(f"found: {len(found)}", *found[:20], sep="\n")
    sys.exit(1 if found else 0)


def campaign(
    seeds: Iterable[int], server: PostgresServer | None
) -> tuple[list[str], Counter[str], Counter[str]]:
    """Return what was found, how often each act was done, and each wish."""
    found, told, wishes = list[str](), Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as first:
        # One run is launched; each sequence begins with a copy of the installation.
        begun, template = Path(first) / "instance", None
        if server is None:
            begin(begun, None)
        else:
            template = server.template("begun", lambda url: begin(begun, url))
        for seed in seeds:
            with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
                url = server and stack.enter_context(server.database(template=template))
                world = new_world(Path(folder), seed, url, server, begun)
                found += [f"seed {seed}: {each}" for each in play(world)]
            told.update(world.told)
            wishes.update(person.wish for person in world.people if person.wish)
    return found, told, wishes


if __name__ == "__main__":
    main()
