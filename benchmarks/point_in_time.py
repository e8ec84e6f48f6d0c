"""Recover from the loss of PostgreSQL's disk, and return to a moment, by the documented commands.

Usage: python benchmarks/point_in_time.py [--seconds 150] [--archive-timeout 60]

The benchmark's own PostgreSQL server archives its changes as described in docs/database.md; a row
is written every 20 ms, for --seconds. Then the server is killed and its folder deleted. The page's
commands restore it from base copy and archive: the missing time is the RPO, and the time until it
answers and accepts writes is the RTO. Then the same commands return to a moment in the middle, and
the rows must match it. The exit status is 1 if they do not.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from tests.documentation.examples import adapted, examples
from tests.prerequisites import POSTGRESQL
from tests.webapp.postgres import PostgresServer

MAIN = "/var/lib/postgresql/15/main"
MOMENT = "2026-03-01 09:00:00+00"
BETWEEN_ROWS_S = 0.02


def main() -> None:
    """Measure, and end with 1 if the rows are not those of the moment."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=150, help="how long rows are written")
    parser.add_argument("--archive-timeout", type=int, default=60, help="60 is the page's")
    arguments = parser.parse_args()
    programs = POSTGRESQL.find()
    assert programs, "PostgreSQL is needed"
    folder = Path(tempfile.mkdtemp(prefix="parallax-archive-"))
    try:
        server = PostgresServer(programs, folder, durable=True)
        right = measure(server, arguments.seconds, arguments.archive_timeout)
        server.stop()
    finally:
        shutil.rmtree(folder)
    sys.exit(0 if right else 1)


def measure(server: PostgresServer, seconds: float, archive_timeout: int) -> bool:
    """Go through both cases, print them, and return whether the rows are the right ones."""
    for name in ("archive", "base"):
        (server.folder / name).mkdir()
        shutil.chown(server.folder / name, server.folder.stat().st_uid)
    server.stop()
    own = adapted(
        examples()["archive"],
        {"/archive/": f"{server.folder}/archive/", "= 60": f"= {archive_timeout}"},
    )
    with (server.folder / "data" / "postgresql.conf").open("a") as settings:
        settings.write(own)
    server.start()
    server.execute("CREATE TABLE mark (at timestamptz DEFAULT clock_timestamp())")
    run(server, examples()["base-copy"])
    write_rows(server, seconds)
    [(last, middle, n_written)] = server.execute(
        "SELECT max(at), percentile_disc(0.5) WITHIN GROUP (ORDER BY at), count(*) FROM mark"
    )
    # A row's time is from just before its commit, so at that of one the ones before are there.
    [(n_until,)] = server.execute(f"SELECT count(*) FROM mark WHERE at < '{middle}'")
    server.kill()
    shutil.rmtree(server.folder / "data")
    targets = "".join(
        line for line in examples()["recover"].splitlines(keepends=True) if "_target_" in line
    )
    took_s = recover(server, adapted(examples()["recover"], {targets: ""}))
    [(found, n_found)] = server.execute("SELECT max(at), count(*) FROM mark")
    lost_s = (last - found).total_seconds()
    print(f"disk lost: of {n_written} rows in {seconds:g} s {n_written - n_found} are lost")
    print(f"  RPO {lost_s:.1f} s (archive_timeout = {archive_timeout}), RTO {took_s:.1f} s")
    server.stop()
    took_s = recover(server, adapted(examples()["recover"], {MOMENT: middle}))
    [(newest, n_back)] = server.execute("SELECT max(at), count(*) FROM mark")
    print(f"back to a moment: {n_back} rows, {n_until} were there then; RTO {took_s:.1f} s")
    return newest < middle and n_back == n_until and n_found > n_until


def write_rows(server: PostgresServer, seconds: float) -> None:
    """Write a row now and again, each in a transaction of its own."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        server.execute("INSERT INTO mark DEFAULT VALUES")
        time.sleep(BETWEEN_ROWS_S)


def recover(server: PostgresServer, commands: str) -> float:
    """Run the page's commands, start the server, and return how long it took to be of use."""
    began = time.monotonic()
    run(server, commands)
    server.start()
    while server.execute("SELECT pg_is_in_recovery()") == [(True,)]:
        time.sleep(0.05)
    return time.monotonic() - began


def run(server: PostgresServer, commands: str) -> None:
    """Run commands of the page as PostgreSQL's user, in this server's folders."""
    here = str(server.folder)
    own = commands.replace(MAIN, f"{here}/data")
    for name in ("archive", "base"):
        own = own.replace(f"/{name}/", f"{here}/{name}/")
    owner = str(server.folder.stat().st_uid)
    as_owner = [] if os.geteuid() else ["setpriv", "--reuid", owner, "--clear-groups"]
    subprocess.run(
        [*as_owner, "sh", "-euc", own], check=True, cwd=here,
        env={"PATH": f"{server.programs}:/usr/bin:/bin", "PGHOST": here, "PGUSER": "postgres"},
    )  # fmt: skip


if __name__ == "__main__":
    main()
