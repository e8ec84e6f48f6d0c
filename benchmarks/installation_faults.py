"""Break an installation in many ways, and count what is named with its remedy within a minute.

Usage: python benchmarks/installation_faults.py [--database sqlite|postgresql|both] [--kind KIND]
           [--only WORDS] [--show]

An installation is at work: database, server, a web server with TLS in front. One fault after the
other is injected: keys, owners, rights, disks, settings, database, server, backups, web server.
Then `parallax doctor` is given as the service's user, and the log of the server and of failed
commands is read, until one text names the fault and what mends it, or 60 seconds are over.
Afterwards the fault is taken back, and must be named no more. Needs root, for other owners and
small file systems; the service itself has no rights of root's. Ends with exit status 1 if a fault
is not named, or is still named when it is mended.
"""

import argparse
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from broken_installation import backups, databases, files, fronts, running, sqlite_files
from broken_installation.fault import Fault
from broken_installation.site import ROLE, Site, open_site
from kill_test import prepare
from sqlalchemy.engine import make_url

from tests.webapp.postgres import postgres_server

WITHIN_S = 60.0
KINDS = {
    each.__name__.rpartition(".")[2]: each.FAULTS
    for each in (files, sqlite_files, databases, running, backups, fronts)
}


@contextmanager
def opened(database: str) -> Iterator[Site]:
    """Yield an installation with a run, on one kind of database."""
    folder = Path(tempfile.mkdtemp(prefix="parallax-faults-"))
    try:
        if database == "sqlite":
            prepare(folder, 10, None)
            with open_site(folder, None, "") as site:
                yield site
            return
        with postgres_server(settings=["max_connections=100"]) as server:
            server.folder.chmod(0o755)  # the service has no rights of root's
            server.execute(f"CREATE ROLE {ROLE} LOGIN CREATEDB")
            with server.database(empty=True) as url:
                name = make_url(url).database
                server.execute(f"ALTER DATABASE {name} OWNER TO {ROLE}")
                url = url.replace("//postgres@", f"//{ROLE}@")
                prepare(folder, 10, url)
                server.execute("CREATE TABLE kept_version AS SELECT * FROM alembic_version", name)
                # What the service backs up is its own.
                server.execute(f"ALTER TABLE kept_version OWNER TO {ROLE}", name)
                with open_site(folder, server, url) as site:
                    yield site
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def matching(fault: Fault, texts: list[str]) -> str:
    """Return the first text that names a fault and its remedy; empty where none does."""
    both = (fault.says, fault.remedy)
    return next((t for t in texts if all(re.search(each, t, re.DOTALL) for each in both)), "")


def tried(site: Site, fault: Fault) -> tuple[float | None, str]:
    """Return after how many seconds a fault was named, if it was, and by what."""
    log_from, found = site.log.stat().st_size, ""
    with fault.inject(site):
        began = time.monotonic()
        texts: list[str] = []
        while not found and time.monotonic() - began < WITHIN_S:
            texts = site.said(log_from)
            found = matching(fault, texts)
        took_s = time.monotonic() - began
    if fault.restarts:
        site.stop()
        site.start()
    site.wait_until(site.is_well)
    return (took_s, found) if found and took_s < WITHIN_S else (None, "\n".join(texts))


def main() -> None:
    """Print a line for each fault, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", choices=("sqlite", "postgresql", "both"), default="sqlite")
    parser.add_argument("--kind", choices=("", *KINDS), default="", help="one kind of faults")
    parser.add_argument("--only", default="", help="faults whose name holds these words")
    parser.add_argument("--show", action="store_true", help="what was said")
    options = parser.parse_args()
    databases = ["sqlite", "postgresql"] if options.database == "both" else [options.database]
    found = {database: campaign(database, options) for database in databases}
    if len(databases) == 2:
        beside_each_other(found)
    kind = options.kind or "all"
    for database, faults in found.items():
        named = sum(cell.strip().endswith(" s") for cell in faults.values())
        what = f"{named} of {len(faults)} faults were named with their remedy"
        print(f"{what} within {WITHIN_S:.0f} s ({database}, {kind})")
    sys.exit(any(not cell.endswith(" s") for faults in found.values() for cell in faults.values()))


def campaign(database: str, options: argparse.Namespace) -> dict[str, str]:
    """Inject the chosen faults; return for each when it was named, in words, and print it."""
    chosen = [
        each
        for kind, faults in KINDS.items()
        for each in faults
        if options.kind in ("", kind)
        if each.only in ("", database) and options.only in each.name
    ]
    found = {}
    out = sys.stderr if options.database == "both" else sys.stdout
    with opened(database) as site:
        before = site.said(0)
        for fault in chosen:
            said = ""
            if matching(fault, before):
                found[fault.name] = "named before it is there"
            else:
                took_s, said = tried(site, fault)
                found[fault.name] = "NOT NAMED" if took_s is None else f"{took_s:8.1f} s"
            print(f"{fault.name:<52}{found[fault.name]}", file=out, flush=True)
            if options.show:
                print("   ", said, file=out, flush=True)
    return found


def beside_each_other(found: Mapping[str, Mapping[str, str]]) -> None:
    """Print a line for each fault, a column for each kind of database."""
    print(f"{'seconds until it is named with its remedy':<50}{'SQLite':>12}{'PostgreSQL':>19}")
    for name in dict.fromkeys(name for faults in found.values() for name in faults):
        cells = (faults.get(name, "").strip() for faults in found.values())
        print(f"{name:<50}{next(cells):>12}{next(cells):>19}".rstrip())


if __name__ == "__main__":
    main()
