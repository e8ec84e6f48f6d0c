"""A sample of the campaign of hostile uploads: no error of the server's own, no trace, no place."""

import pytest

from tests.hostile import documents
from tests.hostile.site import Site
from tests.hostile.uploads import Doors

pytestmark = pytest.mark.one_database


def test_what_nobody_uploads_by_accident_is_refused_or_kept_and_never_breaks_anything(
    tmp_path, monkeypatch
):
    # What starts a process of its own takes two seconds each: the long campaign has it.
    for name in ("settings", "texts", "tables", "scores"):
        monkeypatch.setattr(documents, name, lambda: iter(()))
    site = Site(tmp_path / "instance")
    sent = Doors(site, share=0.3, damaged=20).send_everything()
    site.close()
    assert sent.found == []
    assert sent.counted["upload a study: the zip file", "refused"] > 20
    assert sent.counted["participants: answers", "refused"] > 5
