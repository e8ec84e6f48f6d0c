"""Send hostile values in every field of every form and address.

Usage: python benchmarks/hostile_fields.py [--share 1.0] [--seed 1] [--postgresql]

The fields are not listed: the benchmark requests each route of the app, and records the fields that
the route reads and each form of each page; the parts of an address count, too. All other fields get
valid values. The hostile values are invalid bytes, numbers of 5,000 digits, markup, formulas,
paths, command options, addresses and nested brackets. Each route that changes data has its own
installation, with one object of every kind. A finding is an answer that is a server error, shows a
traceback, a server path or the sent markup, or occupies the processor for three seconds. The exit
status is 1 if there is any finding.
"""

import argparse
import logging
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from benchmarks.hostile.fields import VALUES, walk
from benchmarks.hostile.peopled import Peopled
from tests.temporary import keep_in_memory
from tests.webapp.postgres import postgres_server


def main() -> None:
    """Print how each class of routes answered, and what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--share", type=float, default=1.0, help="of what there is, of 1")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn")
    parser.add_argument("--postgresql", action="store_true", help="on PostgreSQL, not SQLite")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    keep_in_memory()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        build = Peopled
        if options.postgresql:
            server = stack.enter_context(postgres_server())

            def build(instance: Path) -> Peopled:
                return Peopled(instance, stack.enter_context(server.database()))

        walked, names = walk(Path(folder), options.share, options.seed, build)
    print(f"{len({each for some in names.values() for each in some})} fields, {len(VALUES)} values")
    print(*walked.table(), sep="\n")
    print(*walked.result(), sep="\n")
    sys.exit(1 if walked.found else 0)


if __name__ == "__main__":
    main()
