"""Whether a browser can show a picture's bytes: their format, their end, and how large they become.

A picture of a few kilobytes can unpack to gigabytes, which ends the page on a telephone. Nothing is
unpacked here: the size stands at the beginning of each format.
"""

import binascii
import struct
import zlib

MOST_PIXELS = 4096  # Of a side.
EXPECTED_PICTURE = (
    f"a PNG, JPEG, GIF or WebP of at most {MOST_PIXELS:,} pixels on each side, named as what it is"
)
_PNG, _WEBP_HEADER = b"\x89PNG\r\n\x1a\n", 30
# JPEG's markers of a frame, which has the size: those from C0 to CF but for tables (C4, C8, CC).
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def explain_unshown(address: str) -> str:
    """Return why no page can show a picture; empty if it can.

    Args:
        address: The picture's address, ``data:image/png;base64,...``.
    """
    kind, _, base64 = address.removeprefix("data:image/").partition(";base64,")
    try:
        size = _READERS[kind](binascii.a2b_base64(base64, strict_mode=True))
    except (binascii.Error, IndexError, struct.error):
        size = None
    if size is None:
        return f"is not a whole picture in the format {kind}"
    if not all(0 < side <= MOST_PIXELS for side in size):
        return f"has {size[0]:,} by {size[1]:,} pixels"
    return ""


# Each returns the width and height, or None if the bytes are no whole picture.
_Size = tuple[int, ...] | None


def _read_png(content: bytes) -> _Size:
    names, at = list[bytes](), len(_PNG)
    while at < len(content):
        length, name = struct.unpack_from(">I4s", content, at)
        end = at + 8 + length
        if struct.unpack_from(">I", content, end)[0] != zlib.crc32(content[at + 4 : end]):
            return None
        names.append(name)
        at = end + 4
    if not content.startswith(_PNG) or b"IDAT" not in names or names[-1] != b"IEND":
        return None
    return struct.unpack_from(">4xII", content, len(_PNG) + 4)


def _read_gif(content: bytes) -> _Size:
    is_whole = content[:6] in (b"GIF87a", b"GIF89a") and content.endswith(b";")
    return struct.unpack_from("<HH", content, 6) if is_whole else None


def _read_jpeg(content: bytes) -> _Size:
    if not content.startswith(b"\xff\xd8") or not content.rstrip(b"\0").endswith(b"\xff\xd9"):
        return None
    at = 2
    while content[at + 1] not in _JPEG_FRAMES:
        if content[at] != 0xFF:
            return None
        # Any number of FF bytes may precede a marker.
        at += 1 if content[at + 1] == 0xFF else 2 + struct.unpack_from(">H", content, at + 2)[0]
    height, width = struct.unpack_from(">HH", content, at + 5)
    return width, height


def _read_webp(content: bytes) -> _Size:
    riff, size, webp, kind = struct.unpack_from("<4sI4s4s", content)
    if (riff, webp) != (b"RIFF", b"WEBP") or not _WEBP_HEADER <= size + 8 <= len(content):
        return None
    if kind == b"VP8X":
        return tuple(int.from_bytes(content[at : at + 3], "little") + 1 for at in (24, 27))
    if kind == b"VP8L":
        [packed] = struct.unpack_from("<I", content, 21)
        return (packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and content[23:26] == b"\x9d\x01\x2a":
        return tuple(side & 0x3FFF for side in struct.unpack_from("<HH", content, 26))
    return None


_READERS = {"png": _read_png, "gif": _read_gif, "jpeg": _read_jpeg, "webp": _read_webp}
