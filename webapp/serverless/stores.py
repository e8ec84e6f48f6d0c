"""Where a study without a server keeps its answers, and how each store draws sessions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from webapp.core.urls import is_loopback
from webapp.errors import WebappError

DATAPIPE = "https://pipe.jspsych.org"
KINDS = ("file", "post", "datapipe", "jatos")


@dataclass(frozen=True, slots=True)
class Store:
    """A store as a folder names it.

    Attributes:
        kind: One of ``KINDS``.
        keeper: Who keeps the answers, in words; empty where the person does.
        hosts: The sources that a page may connect to beside its own, as a policy writes them.
        settings: What the page's program needs to know of it.
        counts: Whether the store has a counter that says which session comes next.
        scripts: The programs that its host serves, which the page loads first.
    """

    kind: str
    keeper: str
    hosts: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    counts: bool = False
    scripts: tuple[str, ...] = ()

    @property
    def assignment(self) -> str:
        """How sessions are drawn where no link names one."""
        return "counter" if self.counts else "chance"


def store_of(
    kind: str, *, url: str = "", experiment: str = "", staging: str = "", count: bool = True
) -> Store:
    """Return the store that a command's options describe.

    Args:
        kind: One of ``KINDS``.
        url: Where ``post`` sends answers; another deployment of DataPipe for ``datapipe``.
        experiment: DataPipe's id of the experiment.
        staging: The address of the database in which DataPipe stages single answers.
        count: Whether to use the store's counter, if it has one.

    Raises:
        WebappError: An option is missing, or is none of this store's.
    """
    given = {"--url": url, "--experiment": experiment, "--staging": staging}
    takes = {"post": ("--url",), "datapipe": ("--url", "--experiment", "--staging")}
    for name, value in given.items():
        if value and name not in takes.get(kind, ()):
            raise WebappError(f"the store {kind} takes no {name}", where=name)
    if kind == "post":
        site = _site(url, "--url")
        return Store(kind, urlsplit(url).netloc, (site,), {"url": url})
    if kind == "datapipe":
        return _datapipe(url or DATAPIPE, experiment, staging, count=count)
    if kind == "jatos":
        # jatos.js and what it loads come from JATOS itself, beside the page.
        return Store(kind, "JATOS", (), counts=count, scripts=("jatos.js",))
    return Store(kind, "")


def _datapipe(url: str, experiment: str, staging: str, *, count: bool) -> Store:
    if not experiment.isalnum():
        raise WebappError(
            f'"{experiment}" is no experiment of DataPipe',
            where="--experiment",
            expected="its id, twelve letters and digits",
            remedy="Copy it from the experiment's page at pipe.jspsych.org",
        )
    sites = [_site(url, "--url"), *([_site(staging, "--staging")] if staging else [])]
    settings = {
        "url": url.rstrip("/"),
        "experiment": experiment,
        "counts": count,
        "staged": bool(staging),
    }
    return Store("datapipe", f"DataPipe ({urlsplit(url).netloc})", tuple(sites), settings, count)


def _site(url: str, option: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.username:
        raise WebappError(
            f'"{url}" is no address that answers can be sent to',
            where=option,
            expected="an address such as https://example.org/keep",
        )
    if parts.scheme == "http" and not is_loopback(url):
        raise WebappError(
            f'"{url}" would carry people\'s answers for anybody to read',
            where=option,
            expected="an address that begins with https",
        )
    return f"{parts.scheme}://{parts.netloc}"
