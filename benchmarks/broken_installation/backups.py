"""What can be wrong with backups."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from broken_installation.fault import Fault, Injection
from broken_installation.injections import changed, with_settings
from broken_installation.site import Site
from tests.free_ports import free_port

_LONG_AGO = (datetime.now(UTC) - timedelta(days=3)).isoformat()


def _backup(**note: object) -> Injection:
    def change(site: Site) -> None:
        file = site.folder / "some.backup"
        file.write_bytes(b"x")
        known = {
            "at": datetime.now(UTC).isoformat(),
            "file": str(file),
            "bytes": 1,
            "drilled": True,
            "restore_s": 1.0,
            **note,
        }
        (site.folder / "last_backup.json").write_text(json.dumps(known))

    return changed(change)


def command(*words: str, **environment: str) -> Injection:
    """Return a fault that a command tells: its words stand for what cron mails."""

    @contextmanager
    def inject(site: Site) -> Iterator[None]:
        site.outputs.append(site.command(*words, **environment))
        yield
        site.outputs.clear()

    return inject


@contextmanager
def _bucket_is_away(site: Site) -> Iterator[None]:
    """The S3 of a setting does not answer."""
    from pyrage import x25519

    readers = site.folder.with_name("readers")
    readers.write_text(f"{x25519.Identity.generate().to_public()}\n")
    place = site.folder.with_name("backups")
    place.mkdir(exist_ok=True)
    endpoint = f"http://127.0.0.1:{free_port()}"
    given = {"backup_bucket": "s3://somewhere/x", "backup_endpoint": endpoint}
    keys = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_MAX_ATTEMPTS": "1"}
    words = ("db", "backup", str(place), "--encrypt", str(readers))
    with with_settings(**given)(site), command(*words, **keys)(site):
        yield


FAULTS = (
    Fault(
        "no backup was ever made",
        changed(lambda s: (s.folder / "last_backup.json").unlink(missing_ok=True)),
        "no backup",
        "db backup",
    ),
    Fault(
        "the backup is old",
        _backup(at=_LONG_AGO),
        "72.* h old",
        "every night",
    ),
    Fault("the backup was never tried", _backup(drilled=False), "not tried out", "db drill"),
    Fault(
        "the backup's file is gone",
        _backup(file="/nowhere/x.backup"),
        "/nowhere/x.backup",
        "db backup",
    ),
    Fault(
        "the folder for backups is missing",
        command("db", "backup", "/proc/nowhere/all"),
        "/proc/nowhere",
        "folder",
    ),
    Fault(
        "pg_dump is not installed",
        command("db", "backup", f"/tmp/{uuid4()}.backup", PATH="/nowhere", WITHOUT_PROGRAMS="1"),
        "pg_dump is not",
        "apt install",
        "postgresql",
    ),
    Fault("the bucket is away", _bucket_is_away, "bucket|s3://", "[Cc]heck|backup_endpoint"),
)
