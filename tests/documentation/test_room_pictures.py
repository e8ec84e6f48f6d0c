"""Every page of the researcher's room has a picture, and every picture is shown."""

import re
from pathlib import Path

from tests.browser.researcher_seen import pages

DOCS = Path(__file__).parents[2] / "docs"


def test_every_page_of_the_room_has_a_picture_and_every_picture_is_shown():
    text = (DOCS / "room_pictures.md").read_text("utf-8")
    shown = re.findall(r"images/room/(\w+)\.png", text)
    assert sorted(shown) == sorted(path.stem for path in (DOCS / "images/room").glob("*.png"))
    assert pages() <= set(shown), f"no picture of {sorted(pages() - set(shown))}"
