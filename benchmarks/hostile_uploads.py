"""Send hostile files, texts and bodies to every route that accepts them.

Usage: python benchmarks/hostile_uploads.py [--share 1.0] [--damaged 100]

The routes accept a study as a zip file (whose checks are read, and which is launched), a study made
from a table, the text of the room's editor (previewed, saved, checked), a model's scores for a
report, and the JSON of participants' pages. The inputs are damaged and forged archives, zip bombs,
links, paths and names, numbers of 5,000 digits, 1,000,000,000 lists, nested brackets, wrong
encodings, workbooks that expand, and Markdown that consists of markup only. A finding is an answer
that is a server error, shows a traceback or a server path, leaves a file elsewhere, uses the
server's processor for three seconds or a separate process for a minute, or takes 2 GiB of memory.
The exit status is 1 if there is any finding.
"""

import argparse
import logging
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from benchmarks.hostile.site import Site
from benchmarks.hostile.uploads import MOST_MIB, Doors, largest_process_mib
from tests.temporary import keep_in_memory

_ROW = "{:<32} {:>6} {:>6} {:>8}"


def main() -> None:
    """Print what became of what was sent to each door, and what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--share", type=float, default=1.0, help="of what there is, of 1")
    parser.add_argument("--damaged", type=int, default=100, help="archives of each compression")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    keep_in_memory()
    with tempfile.TemporaryDirectory() as folder:
        site = Site(Path(folder) / "instance")
        sent = Doors(site, options.share, options.damaged).send_everything()
        site.close()
    print(_ROW.format("", "sent", "taken", "refused"))
    for door in sent.cpu_s:
        taken, refused = (sent.counted[door, kind] for kind in ("taken", "refused"))
        n = sum(count for (at, _), count in sent.counted.items() if at == door)
        print(_ROW.format(door, n, taken, refused))
    print(f"the largest process took {largest_process_mib():,} MiB")
    if largest_process_mib() > MOST_MIB:
        sent.found.append(f"a process took more than {MOST_MIB:,} MiB")
    print(f"found: {len(sent.found)}", *sent.found[:20], sep="\n")
    sys.exit(1 if sent.found else 0)


if __name__ == "__main__":
    main()
