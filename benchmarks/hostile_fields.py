"""Type hostile values into every field of every form and address.

Usage: python benchmarks/hostile_fields.py [--share 1.0] [--seed 1] [--postgresql]

No list says which fields there are: each route of the app is asked, what it looks at is noted, and
so is each form of each page; the parts of an address count, too. The other fields hold what is
right. What is sent: bytes of no text, numbers of 5,000 digits, markup, formulas, paths, options of
commands, addresses, nested brackets. Each route that changes something has an installation of its
own, with one of everything that may be named. An answer that is an error of the server's own, shows
a trace, a path of the server or markup that was sent, or keeps the processor for three seconds, is
found. Ends with exit status 1 if anything is.
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
