"""Whatever goes wrong between a page and its store: is anything lost that the store acknowledged?

People take a study without a server in Chromium, on each store's stand-in, while one thing goes
wrong: each request of a session fails once, before or after it is carried out; the connection is
away; pages are loaded again; two windows; a closed window; a store that is full; a counter that
jumps or repeats. Afterwards three things are compared: what the browser has marked as acknowledged,
what the store holds, and what lies in the browser alone.

Usage: python -m benchmarks.static_faults [--jatos FOLDER] [--only STORE]

FOLDER is modules/publix/public/javascripts of a checkout of github.com/JATOS/JATOS: its own
jatos.js runs then; without it a program of ours that speaks its protocol.
"""

import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
from playwright.sync_api import expect, sync_playwright

from benchmarks.store_faults.acts import (
    Contexts,
    closed,
    counter,
    each_request,
    full,
    offline,
    offline_at_the_end,
    reloads,
    two_windows,
)
from benchmarks.store_faults.place import STORES, WAIT_MS, Found, Place, place_of
from tests.browser.static_site import stores
from tests.prerequisites import CHROMIUM

KINDS = {"lost_before": "before", "lost_after": "after"}
_HEAD = (
    "| Store | What goes wrong | Sessions | Acknowledged | of these lost | Only in the browser "
    "| not said |\n|---|---|---:|---:|---:|---:|---:|"
)


def campaign(place: Place, contexts: Contexts, every: int = 1) -> Iterator[tuple[str, Found]]:
    """Yield each fault and what became of its sessions."""
    for kind, when in KINDS.items():
        yield f"each request fails {when} it is done", each_request(place, contexts, kind, every)
    for name, act in (
        ("offline from the third answer on", offline),
        ("offline at the end, then loaded again", offline_at_the_end),
        ("every page loaded again", reloads),
        ("two windows", two_windows),
        ("window closed, link opened again", closed),
        ("store full", full),
    ):
        place.empty()
        yield name, act(place, contexts)
    if place.store != "post":
        for name, to, named in (
            ("counter jumps", 3, "numbers below the highest are of nobody here"),
            ("counter repeats", 0, "given to several people"),
        ):
            place.empty()
            yield name, counter(place, contexts, to, named)


@click.command()
@click.option("--jatos", type=click.Path(path_type=Path, exists=True), help="jatos.js's folder.")
@click.option("--only", type=click.Choice(STORES), multiple=True, help="Of one store.")
@click.option("--every", default=1, show_default=True, help="Only each so many requests fail.")
def main(jatos: Path | None, only: tuple[str, ...], every: int) -> None:
    """Let everything go wrong once on each store, and print a table."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    expect.set_options(timeout=WAIT_MS)
    whose = "JATOS's own" if jatos else "a stand-in's"
    click.echo(f"jatos.js is {whose}. Entries: what people did, as their browser wrote it down.\n")
    click.echo(_HEAD)
    wrong: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM.find())
        for store in only or STORES:
            with tempfile.TemporaryDirectory() as folder, stores(Path(folder), jatos) as kept:
                place = place_of(store, kept, Path(folder))
                for name, found in campaign(place, browser.new_context, every):
                    click.echo(f"| {store} | {name} | {found.cells} |")
                    wrong += found.unfinished
        browser.close()
    click.echo(f"\nSessions of which the import says something wrong: {len(wrong)}.")
    for each in wrong:
        click.echo(each, err=True)
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
