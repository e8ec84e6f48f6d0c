"""Ways to break the instance folder, each taken back afterwards."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from broken_installation.fault import Injection
from broken_installation.site import Site

_SOMEBODY = 65534


# What a server at work writes all the time.
_LIVE = ("parallax.sqlite3", "jobs.sqlite3", "metrics", "job_")


def changed(change: Callable[[Site], object]) -> Injection:
    """Return a fault in files that a server only reads; they are put back afterwards."""

    @contextmanager
    def inject(site: Site) -> Iterator[None]:
        before = {path: path.read_bytes() for path in _still(site)}
        change(site)
        yield
        for path in _still(site):
            if path not in before:
                path.unlink()
        for path, content in before.items():
            if not path.exists() or path.read_bytes() != content:
                path.write_bytes(content)
                path.chmod(0o600)

    return inject


def _still(site: Site) -> list[Path]:
    files = (path for path in site.folder.iterdir() if path.is_file())
    return [path for path in files if not path.name.startswith(_LIVE)]


def replaced(change: Callable[[Site], object]) -> Injection:
    """Return a fault in a server's own files: it is ended, and all are put back afterwards."""

    @contextmanager
    def inject(site: Site) -> Iterator[None]:
        kept = site.folder.with_name("kept")
        shutil.copytree(site.folder, kept)
        change(site)
        yield
        site.stop()
        shutil.rmtree(site.folder)
        kept.rename(site.folder)

    return inject


def moded(path: Callable[[Site], Path], mode: int) -> Injection:
    """Return a fault in the rights of one file or folder."""

    @contextmanager
    def inject(site: Site) -> Iterator[None]:
        before = path(site).stat().st_mode
        path(site).chmod(mode)
        yield
        path(site).chmod(before)

    return inject


def owned(path: Callable[[Site], Path]) -> Injection:
    """Return a fault in the owner of one file, made where it is missing."""

    @contextmanager
    def inject(site: Site) -> Iterator[None]:
        at = path(site)
        missing = not at.exists()
        if missing:
            at.touch(0o600)
        os.chown(at, _SOMEBODY, _SOMEBODY)
        yield
        os.chown(at, os.geteuid(), os.getegid())
        if missing:
            at.unlink(missing_ok=True)

    return inject


def with_settings(**settings: object) -> Injection:
    """Return a fault in the settings, which the doctor and the next start read."""

    @contextmanager
    def inject(site: Site) -> Iterator[None]:
        before = dict(site.settings)
        site.settings |= settings
        site.configure()
        yield
        site.settings = before
        site.configure()

    return inject


def written(text: bytes) -> Injection:
    """Return a fault in the text of parallax.toml."""

    @contextmanager
    def inject(site: Site) -> Iterator[None]:
        (site.folder / "parallax.toml").write_bytes(text)
        yield
        site.configure()

    return inject
