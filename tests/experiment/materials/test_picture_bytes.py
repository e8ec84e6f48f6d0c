"""Pictures that another program wrote can be shown; broken and immense ones cannot."""

import base64
import io

import pytest
from PIL import Image

from experiment.materials.picture_bytes import MOST_PIXELS, explain_unshown
from experiment.materials.render import PICTURE, PICTURE_LIKE
from tests.hostile.documents import png_of_size

_EXIF = b"Exif\0\0MM\0*\0\0\0\x08\0\0\0\0\0\0"
FORMATS = {
    "png": [{}], "gif": [{}], "jpeg": [{}, {"progressive": True}],
    "webp": [{"lossless": True}, {"lossless": False}, {"exif": _EXIF}],
}  # fmt: skip
EVERY = [(kind, options) for kind, many in FORMATS.items() for options in many]


def written(kind: str, size: tuple[int, int] = (31, 17), **options: object) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, "teal").save(file, kind, **options)
    return file.getvalue()


def told(kind: str, content: bytes) -> str:
    return explain_unshown(f"data:image/{kind};base64,{base64.b64encode(content).decode()}")


@pytest.mark.parametrize(("kind", "options"), EVERY)
def test_a_whole_picture_can_be_shown_and_one_in_pieces_cannot(kind, options):
    whole = written(kind, **options)
    assert told(kind, whole) == ""
    for part in (b"", whole[:5], whole[: len(whole) // 2], whole[:-2], whole[2:]):
        assert told(kind, part) == f"is not a whole picture in the format {kind}"


@pytest.mark.parametrize(("kind", "options"), EVERY)
def test_its_size_is_the_one_that_was_written(kind, options):
    wide = told(kind, written(kind, (MOST_PIXELS + 1, 2), **options))
    high = told(kind, written(kind, (3, MOST_PIXELS + 1), **options))
    assert (wide, high) == ("has 4,097 by 2 pixels", "has 3 by 4,097 pixels")
    assert told(kind, written(kind, (MOST_PIXELS, 2), **options)) == ""


def test_what_unpacks_to_gigabytes_is_told_from_its_header():
    assert told("png", png_of_size(30_000, 30_000)) == "has 30,000 by 30,000 pixels"
    assert told("png", png_of_size(0, 9)) == "has 0 by 9 pixels"


@pytest.mark.parametrize("named", FORMATS)
def test_a_picture_is_named_as_what_it_is(named):
    for kind in FORMATS:
        assert bool(told(named, written(kind))) == (kind != named)
    assert told(named, b'<svg xmlns="http://www.w3.org/2000/svg"/>')
    assert explain_unshown(f"data:image/{named};base64,AAA")


def test_a_wrong_byte_in_a_png_is_seen():
    content = bytearray(written("png"))
    content[len(content) // 2] ^= 1
    assert told("png", bytes(content)) == "is not a whole picture in the format png"


def test_a_text_of_beginnings_has_no_picture_but_the_last():
    """A search that goes on from each beginning to the end takes half a minute here."""
    whole = "![a](data:image/png;base64,AAAA)"
    for begun in ("![", "![](", "![a](data:image/png;base64,AAAA"):
        text = begun * (120_000 // len(begun)) + whole
        assert [found[0] for found in PICTURE.finditer(text)] == [whole]
        assert [found[0] for found in PICTURE_LIKE.finditer(text)] == [whole]
