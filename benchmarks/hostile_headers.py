"""Send hostile values in every header that is parsed to routes of every class.

Usage: python benchmarks/hostile_headers.py [--routes 4] [--share 1.0]

Requests are authorised, so that they test the whole route and not only the access check:
participants' routes get a participant's link, the room's routes an owner's session and the form's
digest, API routes a token of every scope. Each value of each header is sent to randomly drawn
routes of every class. Each request may use the processor for three seconds. A finding is an answer
that is a server error, shows a traceback or a server path, or returns a header. The exit status is
1 if there is any finding.
"""

import argparse
import logging
import resource
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from benchmarks.hostile.headers import HEADERS, VALUES, walk
from benchmarks.hostile.site import Site
from tests.temporary import keep_in_memory


def main() -> None:
    """Print how each class of routes answered, and what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--routes", type=int, default=4, help="of each class, for each value")
    parser.add_argument("--share", type=float, default=1.0, help="of all values, of 1")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    keep_in_memory()
    with tempfile.TemporaryDirectory() as folder:
        site = Site(Path(folder) / "instance")
        before = _peak_mib()
        walked = walk(site, options.routes, options.share)
        site.close()
    print(f"{len(HEADERS)} headers, {len(VALUES)} values")
    print(*walked.table(), sep="\n")
    print(f"memory: {_peak_mib() - before} MiB more than before the first request")
    print(*walked.result(), sep="\n")
    sys.exit(1 if walked.found else 0)


def _peak_mib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
