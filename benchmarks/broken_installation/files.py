"""What can be wrong with keys, files, folders, disks and settings."""

import secrets
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from broken_installation.fault import Fault, Injection
from broken_installation.injections import changed, moded, owned, with_settings, written
from broken_installation.site import Site


@contextmanager
def _other_folder(site: Site, path: Path) -> Iterator[None]:
    before = site.environment["PARALLAX_INSTANCE"]
    site.environment["PARALLAX_INSTANCE"] = str(path)
    yield
    site.environment["PARALLAX_INSTANCE"] = before


@contextmanager
def _folder_is_a_file(site: Site) -> Iterator[None]:
    path = site.folder.with_name("file")
    path.touch()
    with _other_folder(site, path):
        yield


def _disk(options: str, fill: Callable[[Path], None]) -> Injection:
    """Return a fault in a small file system of the instance folder's own."""

    @contextmanager
    def inject(site: Site) -> Iterator[None]:
        # The folder as a whole lies on it, as on a full machine.
        kept = site.folder.with_name("kept")
        shutil.copytree(site.folder, kept)
        mount = ["mount", "-t", "tmpfs", "-o", f"{options},mode=0700", "tmpfs", str(site.folder)]
        subprocess.run(mount, check=True)
        shutil.copytree(kept, site.folder, dirs_exist_ok=True)
        fill(site.folder)
        yield
        subprocess.run(["umount", "--lazy", str(site.folder)], check=True)
        shutil.rmtree(kept)

    return inject


def _fill(folder: Path) -> None:
    with (folder / "filler").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            return


def _use_up_names(folder: Path) -> None:
    try:
        for number in range(10_000):
            (folder / f"name{number}").touch()
    except OSError:
        return


def _key(text: str) -> Injection:
    return changed(lambda site: site.key.write_text(text))


def _open_export(site: Site) -> None:
    file = site.folder / "export.csv"
    file.touch()
    file.chmod(0o644)


def _foreign() -> str:
    lines = (("signing", 1), ("pseudonyms", 2), ("sealing", 3))
    return "".join(f"{purpose} {id_} {secrets.token_hex(32)}\n" for purpose, id_ in lines)


_TOKEN = "GET /p/abcdefgh12.abcdefghij123 x\n"
_CHMOD, _CHOWN, _COPY = "chmod", "chown", "copy|keys file of this database"
FAULTS = (
    Fault("everybody can read the keys", moded(lambda s: s.key, 0o644), "secret_key", _CHMOD),
    Fault("the keys are lost", changed(lambda s: s.key.unlink()), "keys? file", _COPY),
    Fault("the keys are another installation's", _key(_foreign()), "none of the keys", _COPY),
    Fault("the keys file is cut off", _key("signing 1 abc\n"), "too short", _COPY),
    Fault("the keys file holds something else", _key("-----BEGIN X-----\n"), "key", _COPY),
    Fault("the keys file belongs to somebody else", owned(lambda s: s.key), "secret_key", _CHOWN),
    Fault("the service cannot read the keys", moded(lambda s: s.key, 0), "secret_key", _CHMOD),
    Fault("others can enter the folder", moded(lambda s: s.folder, 0o755), "instance", _CHMOD),
    Fault("the folder is read-only", moded(lambda s: s.folder, 0o500), "read-only", _CHMOD),
    Fault("the folder belongs to somebody else", owned(lambda s: s.folder), "belongs", "sudo -u"),
    Fault(
        "a lock's file belongs to root",
        owned(lambda s: s.folder / "parallax.sqlite3-turn"),
        "parallax.sqlite3-turn.*another user",
        _CHOWN,
    ),
    Fault(
        "the record of erasures belongs to somebody else",
        owned(lambda s: s.folder / "erasures"),
        "erasures.*another user",
        _CHOWN,
    ),
    Fault(
        "an old export is open to others",
        changed(_open_export),
        "export.csv",
        _CHMOD,
    ),
    Fault(
        "the disk is full",
        _disk("size=100m", _fill),
        "disk.*(free|full)|nothing can be written",
        "[Ff]ree some space",
        restarts=True,
    ),
    Fault(
        "the disk has no names left",
        _disk("size=200m,nr_inodes=150", _use_up_names),
        "more files can be created",
        "[Dd]elete small files",
        restarts=True,
    ),
    Fault(
        "the disk is nearly full",
        _disk("size=100m", lambda _folder: None),
        "MiB are free",
        "[Ff]ree some space",
        restarts=True,
    ),
    Fault(
        "a setting is misspelt", with_settings(publik_url="x"), "publik_url", "public_url|see|docs"
    ),
    Fault(
        "a setting has the wrong type", with_settings(workers="many"), "workers", "number|integer"
    ),
    Fault("the settings are no TOML", written(b"port = = 1\n"), "parallax.toml", "line|TOML"),
    Fault("the settings are no text", written(b"\xff\xfe\0p"), "parallax.toml", "UTF-8|text"),
    Fault(
        "the service cannot read its settings",
        moded(lambda s: s.folder / "parallax.toml", 0),
        "parallax.toml",
        "chmod|chown|read",
    ),
    Fault("PARALLAX_INSTANCE names a file", _folder_is_a_file, "file", "folder"),
    Fault(
        "a log holds a token",
        changed(lambda s: (s.folder / "server.log").write_text(_TOKEN)),
        "look like a token",
        "delete the file",
    ),
    Fault(
        "too few open files are allowed",
        with_settings(connections=100_000_000),
        "open_files",
        "LimitNOFILE",
    ),
)
