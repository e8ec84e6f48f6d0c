"""Every researcher page has a picture, and every picture is shown."""

import re
from pathlib import Path

from tests.browser.researcher_seen import pages

DOCS = Path(__file__).parents[2] / "docs"


def test_every_researcher_page_has_a_picture_and_every_picture_is_shown():
    text = (DOCS / "researcher_pictures.md").read_text("utf-8")
    shown = re.findall(r"images/researcher/(\w+)\.png", text)
    assert sorted(shown) == sorted(path.stem for path in (DOCS / "images/researcher").glob("*.png"))
    assert pages() <= set(shown), f"no picture of {sorted(pages() - set(shown))}"
