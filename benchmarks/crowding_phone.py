"""A machine, a class and a slow phone come to one run at the same time, in earnest.

Usage: python benchmarks/crowding_phone.py [--seconds 60] [--places 240] [--people 200]

The server answers as in production, with two processes. A machine opens browsers as fast as two
processes of four threads can: some answer everything, some one trial, some nothing, some withdraw.
A class comes within half of the time, and with it a Chromium whose processor is slowed down and
whose line is a slow one, as in a phone of ten years ago. First all come from one address, where the
machine is kept to 700 browsers (1000 may arrive in an hour); then the class has an address of its
own, and the machine does what it can. Printed is how many places the machine holds in the end, and
how long the class took from the link to the first trial.

Last comes what a proof of work would have to work with: the SHA-256 digests of 64 bytes that two
processes of openssl make in a second, and those that the slow browser makes.
"""

import argparse
import itertools
import logging
import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from uuid import uuid4

import httpx
from crowding import MACHINE, SCHOOL, Installation
from playwright.sync_api import sync_playwright
from reaction_times import SWITCHES

from webapp.core.clock import utc_now
from webapp.jobs.leases import give_places_to_workers
from webapp.server import process as server

sys.path.append(str(Path(__file__).parents[1]))
from tests.prerequisites import CHROMIUM

_THREADS = 4
DIGESTS = """async (ms) => {
  const block = new Uint8Array(64), began = performance.now();
  let n = 0;
  while (performance.now() - began < ms) {
    block[0] = n; block[1] = n >> 8;
    await crypto.subtle.digest("SHA-256", block);
    n++;
  }
  return n / (performance.now() - began) * 1000;
}"""


class Flood(multiprocessing.Process):
    """A processor of a machine that opens browsers as fast as it can, in several threads.

    Each thread goes round: a browser that answers everything, one that answers a trial and stays,
    one that withdraws, and one that does nothing. Each has no cookie, another name and an invented
    address in front of its own.

    Args:
        url: The server.
        run_ref: The run.
        until: When it stops, in seconds since the epoch.
        most: How many browsers it opens at most; None for any number.
    """

    def __init__(self, url: str, run_ref: str, until: float, most: int | None) -> None:
        super().__init__()
        self._url, self._path = url, f"/run/{run_ref}"
        self._until, self._most = until, most
        self._told: multiprocessing.Queue[tuple[int, set[str]]] = multiprocessing.Queue()
        self._numbers = itertools.count()

    def came(self) -> tuple[int, set[str]]:
        """Return how often it came, and what names the sessions that it was let into."""
        return self._told.get()

    def run(self) -> None:
        """Come again and again."""
        with ThreadPoolExecutor(_THREADS) as pool:
            found = list(pool.map(lambda _: self._go_round(), range(_THREADS)))
        tokens = set[str]().union(*(each[1] for each in found))
        self._told.put((sum(each[0] for each in found), tokens))

    def _go_round(self) -> tuple[int, set[str]]:
        came, tokens = 0, set[str]()
        while time.time() < self._until:
            if self._most is not None and next(self._numbers) >= self._most:
                break
            came += 1
            with (
                httpx.Client(
                    headers={
                        "X-Forwarded-For": f"192.0.2.{came % 250}, {MACHINE}",
                        "User-Agent": f"Mozilla/5.0 (X11; {uuid4()})",
                    },
                    base_url=self._url,
                    trust_env=False,
                    timeout=60,
                ) as web,
                suppress(httpx.HTTPError),
            ):
                said = web.post(self._path, data={"decision": "accept"})
                if said.status_code == httpx.codes.SEE_OTHER:
                    home = httpx.URL(self._url).join(said.headers["location"]).path
                    tokens.add(home.strip("/").rpartition("/")[2])
                    _do(web, home, came % 4)
        return came, tokens


def _do(web: httpx.Client, home: str, way: int) -> None:
    for position in range(1, (8, 1, 0, 0)[way] + 1):
        body = {"uuid": str(uuid4()), "position": position, "side": "first",
                "rt_ms": 700.0, "input_method": "key"}  # fmt: skip
        web.post(f"{home}answers", json=body)
    if way == 0:
        web.post(f"{home}questionnaire", data={"native_language": "English"})
    if way == 2:
        web.post(f"{home}withdraw", data={"wish": "erase"})


def one_of_the_class(url: str, run_ref: str, address: str, at: float) -> float | None:
    """Come at a moment; return the seconds from the link to the first trial, None if refused."""
    time.sleep(max(0.0, at - time.monotonic()))
    began = time.monotonic()
    headers = {"X-Forwarded-For": address}
    with httpx.Client(headers=headers, trust_env=False, timeout=60, base_url=url) as web:
        web.get(f"/run/{run_ref}").raise_for_status()
        said = web.post(f"/run/{run_ref}", data={"decision": "accept"}, follow_redirects=True)
    return time.monotonic() - began if 'data-page="working"' in said.text else None


def phone(url: str, run_ref: str, address: str, slower: float, chromium: str) -> float:
    """Return the seconds that a slow phone takes from the link to the first trial."""
    with (
        sync_playwright() as browsers,
        browsers.chromium.launch(executable_path=chromium, args=SWITCHES) as browser,
    ):
        page = browser.new_page(
            viewport={"width": 360, "height": 640}, extra_http_headers={"X-Forwarded-For": address}
        )
        line = page.context.new_cdp_session(page)
        line.send("Emulation.setCPUThrottlingRate", {"rate": slower})
        line.send("Network.enable")
        slow = {"latency": 300, "downloadThroughput": 50_000, "uploadThroughput": 25_000}
        line.send("Network.emulateNetworkConditions", {"offline": False, **slow})
        page.set_default_timeout(120_000)
        began = time.monotonic()
        page.goto(f"{url}/run/{run_ref}")
        page.locator("button[value=accept]").click()
        page.locator('[data-page="working"]').wait_for(state="attached")
        return time.monotonic() - began


@contextmanager
def served(instance: Path) -> Iterator[str]:
    """Serve an installation as in production, and yield its address."""
    started = server.start(instance, workers=2)
    try:
        yield started.url
    finally:
        server.stop(instance)


def in_earnest(folder: Path, options: argparse.Namespace, address: str) -> None:
    """Let machine, class and phone come at the same time, and print what became of them."""
    lab = Installation(folder, options.places, utc_now)
    most = options.browsers // 2 if address == MACHINE else None
    with served(folder) as url, ThreadPoolExecutor(16) as pool:
        until = time.time() + options.seconds
        floods = [Flood(url, lab.run_ref, until, most) for _ in range(2)]
        for flood in floods:
            flood.start()
        begin, n = time.monotonic() + 5, options.people - 1
        moments = [begin + options.seconds / 2 * number / n for number in range(n)]
        of_class = partial(one_of_the_class, url, lab.run_ref, address)
        come = [pool.submit(of_class, moment) for moment in moments]
        of_phone = phone(url, lab.run_ref, address, options.slower, options.chromium)
        took = [each.result() for each in come]
        came = [flood.came() for flood in floods]
        for flood in floods:
            flood.join()
        time.sleep(max(0.0, until - time.time()))
        give_places_to_workers(lab.services)
        tokens = set[str]().union(*(each[1] for each in came))
        held, tried = lab.held(tokens), sum(each[0] for each in came)
    seconds = sorted(each for each in took if each is not None)
    where = "the same address" if address == MACHINE else "an address of its own"
    print(f"a class of {options.people} behind {where}")
    print(f"  the machine came {tried:,} times, was let in {len(tokens):,} times")
    print(f"  places that it holds after {options.seconds:g} s: {held} of {options.places}")
    print(f"  people of the class who are in by then: {len(seconds) + 1}")
    print(f"  from the link to the first trial: median {seconds[len(seconds) // 2]:.1f} s,"
          f" slowest {seconds[-1]:.1f} s")  # fmt: skip
    print(f"  a phone whose processor is {options.slower:g} times slower: {of_phone:.1f} s")


def work(slower: float, chromium: str) -> None:
    """Print how fast a machine and a slow browser digest."""
    command = ["openssl", "speed", "-multi", "2", "-seconds", "3", "-bytes", "64", "sha256"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    native = float(said.split()[-1].rstrip("k")) * 1000 / 64
    with (
        sync_playwright() as browsers,
        browsers.chromium.launch(executable_path=chromium, args=SWITCHES) as browser,
    ):
        page = browser.new_page()
        page.goto("chrome://version")  # a page that may use the browser's digests
        line = page.context.new_cdp_session(page)
        line.send("Emulation.setCPUThrottlingRate", {"rate": slower})
        slow = page.evaluate(DIGESTS, 4000)
    print(f"digests in a second: {native:,.0f} by two processes, {slow:,.0f} by the slow browser,"
          f" {native / slow:,.0f} to one")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--places", type=int, default=240)
    parser.add_argument("--browsers", type=int, default=700, help="of the machine at most")
    parser.add_argument("--people", type=int, default=200, help="in the class")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long")
    parser.add_argument("--slower", type=float, default=10.0, help="the phone's processor")
    parser.add_argument("--chromium", default=CHROMIUM.find(), help="the browser")
    options = parser.parse_args()
    logging.disable()
    with tempfile.TemporaryDirectory() as name:
        for address in (MACHINE, SCHOOL):
            in_earnest(Path(name) / address, options, address)
    work(options.slower, options.chromium)


if __name__ == "__main__":
    main()
