"""A sample of the campaign of hostile uploads: no error of the server's own, no trace, no place."""

from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import pytest

from tests.hostile import documents
from tests.hostile.site import Site
from tests.hostile.uploads import Doors
from webapp.core import subprocesses
from webapp.core.subprocesses import CommandResult
from webapp.researcher import launch, studies

pytestmark = pytest.mark.one_database


class OtherThread:
    """What does a page's work in another thread, as on a server."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(1)

    def apply(self, work):
        return self._threads.submit(work).result()


@pytest.fixture(autouse=True)
def other_thread(monkeypatch):
    pool = OtherThread()
    monkeypatch.setattr(subprocesses, "is_module_patched", lambda _: True)
    monkeypatch.setattr(subprocesses, "_get_thread_pool", lambda: pool)


def few(every, step: int = 4):
    """Return a function that yields every fourth, by default, of what a campaign sends."""
    return lambda: islice(every(), 0, None, step)


def test_what_nobody_uploads_by_accident_is_refused_or_kept_and_holds_nobody_else_up(
    tmp_path, monkeypatch
):
    # What starts a process of its own takes two seconds each: the long campaign has it.
    monkeypatch.setattr(documents, "scores", lambda: iter(()))
    ended = CommandResult(worked=False, text="no")
    for module in (launch, studies):
        monkeypatch.setattr(module, "run_parallax", lambda *_, **__: ended)
    for name in ("settings", "texts", "tables", "pictures"):
        monkeypatch.setattr(documents, name, few(getattr(documents, name)))
    site = Site(tmp_path / "instance")
    sent = Doors(site, share=0.3, damaged=20).send_everything()
    site.close()
    assert sent.found == []
    assert sent.counted["upload a study: the zip file", "refused"] > 20
    assert sent.counted["participants: answers", "refused"] > 5
    assert sent.counted["look at what is typed", "taken"] > 5
    assert sent.counted["participants: typed answers", "taken"] > 5
    assert sent.counted["participants: typed answers", "refused"] > 5
    assert sent.counted["images as files", "refused"] > 1
    assert max(sent.calls.values()) > 10_000, "it is counted"
