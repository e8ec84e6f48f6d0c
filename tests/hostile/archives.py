"""Zip files of studies that nobody packs by accident."""

import io
import random
import stat
import struct
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from experiment.studies.load import STUDIES_FOLDER

NAME = "mine"
_KINDS = {
    "stored": zipfile.ZIP_STORED, "deflate": zipfile.ZIP_DEFLATED, "bzip2": zipfile.ZIP_BZIP2,
    "lzma": zipfile.ZIP_LZMA,
}  # fmt: skip


def study_files() -> dict[str, bytes]:
    """Return the files of a sound study, by their names in the archive."""
    folder = STUDIES_FOLDER / "minimal"
    paths = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {f"{NAME}/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in paths}


def packed(files: Mapping[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return the files as a zip file."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", kind) as zip_file:
        for name, content in files.items():
            zip_file.writestr(name, content)
    return archive.getvalue()


def archives(damaged: int, seed: int = 1) -> Iterator[tuple[str, bytes]]:
    """Yield archives, each with what is wrong with it.

    Args:
        damaged: How many with wrong bytes, of each kind of compression.
        seed: Which bytes are wrong follows from it.
    """
    draw, files = random.Random(seed), study_files()
    for name, kind in _KINDS.items():
        sound = packed(files, kind)
        for _ in range(damaged):
            content = bytearray(sound)
            for _ in range(draw.randint(1, 20)):
                content[draw.randrange(len(content))] = draw.randrange(256)
            yield f"damaged, {name}", bytes(content)
        for share in (0.1, 0.5, 0.99):
            yield f"cut short, {name}", sound[: int(len(sound) * share)]
    yield from _wrong_numbers(packed(files))
    yield from _bombs(files)
    yield from _names(files)
    yield "no zip", b""
    yield "no zip", b"PK\x03\x04" + bytes(99)
    yield "no zip", draw.randbytes(10_000)
    yield "a zip in a zip", packed({f"{NAME}/study.toml": packed(files)})


def _wrong_numbers(sound: bytes) -> Iterator[tuple[str, bytes]]:
    """What the archive says of its own files, by the fields of its central directory."""
    entry, end = sound.index(b"PK\x01\x02"), sound.index(b"PK\x05\x06")
    fields = {
        "version": 6, "flags": 8, "method": 10, "time": 12, "CRC": 16, "packed size": 20,
        "size": 24, "length of name": 28, "extra": 30, "comment": 32, "offset": 42,
    }  # fmt: skip
    for name, at in fields.items():
        for value in (0xFFFF, 0x0001, 0x0800, 0x7FFF):
            content = bytearray(sound)
            struct.pack_into("<H", content, entry + at, value)
            yield f"a wrong {name}", bytes(content)
    for at in (8, 10, 12, 16, 20):
        content = bytearray(sound)
        struct.pack_into("<H", content, end + at, 0xFFFF)
        yield "a wrong end", bytes(content)


def _bombs(files: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    zeros = bytes(61 * 1024 * 1024)
    for name, kind in (("deflate", zipfile.ZIP_DEFLATED), ("lzma", zipfile.ZIP_LZMA)):
        yield f"a bomb, {name}", packed({**files, f"{NAME}/zeros.csv": zeros}, kind)
    small = bytes(1024 * 1024)
    yield "a bomb of many", packed(files | {f"{NAME}/{n}.csv": small for n in range(90)})
    yield "501 files", packed({f"{NAME}/{n}.csv": b"" for n in range(501)})
    one = packed({f"{NAME}/study.toml": small})
    # Every entry of the directory leads to the same packed bytes.
    entry = one[one.index(b"PK\x01\x02") : one.index(b"PK\x05\x06")]
    body, n = one[: one.index(b"PK\x01\x02")], 400
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, n, n, len(entry) * n, len(body), 0)
    yield "a bomb that overlaps", body + entry * n + end


def _names(files: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    outside = ("../escape.csv", f"{NAME}/../../escape.csv", "/etc/escape.csv", "C:\\escape.csv",
               f"{NAME}/..\\escape.csv", f"{NAME}/\x00.csv", "other/study.toml",
               "//server/share.csv")  # fmt: skip
    for name in outside:
        yield "a path that leads out", packed({**files, name: b""})
    for name in (
        "x" * 300,
        "a/" * 2_000 + "b",
        "con",
        " ",
        ".",
        "study.toml/b",
        "\ud7ff\U0010ffff",
    ):
        yield "a name no disk holds", packed({**files, f"{NAME}/{name}": b""})
    for name in ("mi ne", "", "..", "-rf", "--help", "x" * 65, "mine\n", "\u202emine"):
        renamed = {path.replace(NAME, name, 1): data for path, data in files.items()}
        yield "a name no study has", packed(renamed)
    yield "a link", _link(files, stat.S_IFLNK, b"/etc/passwd")
    yield "a link", _link(files, stat.S_IFLNK, b"../../../secret_key")
    yield "a device", _link(files, stat.S_IFCHR, b"")
    yield "a pipe", _link(files, stat.S_IFIFO, b"")


def _link(files: Mapping[str, bytes], kind: int, target: bytes) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as zip_file:
        for name, content in files.items():
            zip_file.writestr(name, content)
        entry = zipfile.ZipInfo(f"{NAME}/items.csv")
        entry.external_attr = (kind | 0o777) << 16
        zip_file.writestr(entry, target)
    return archive.getvalue()


def study_with(**changed: bytes) -> bytes:
    """Return a sound study's archive, but for some files, by their names without folder.

    Args:
        **changed: The content of each; ``.`` in a name is written ``_``.
    """
    files = study_files()
    for name, content in changed.items():
        [path] = [each for each in files if Path(each).name == name.replace("_", ".", 1)]
        files[path] = content
    return packed(files)
