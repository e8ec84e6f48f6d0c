"""The pages on which money is decided leave nothing in English, either."""

import re
from contextlib import suppress
from html import unescape

import pytest

from tests.webapp.payments.conftest import hit, platform, worked  # noqa: F401 - fixtures
from tests.webapp.payments.platform_double import DIES_AFTER, ProcessDied
from tests.webapp.researcher.test_language import WORD, in_marks, unmarked  # noqa: F401 - a fixture
from tests.webapp.researcher.test_money import (  # noqa: F401 - fixtures
    change_settings,
    payer,
    published,
)

pytestmark = pytest.mark.one_database


def test_no_page_of_money_says_anything_in_english_alone(
    payer,  # noqa: F811
    worked,  # noqa: F811
    platform,  # noqa: F811
    change_settings,  # noqa: F811
    in_marks,  # noqa: F811
    monkeypatch,
):
    refs = [worked(number) for number in (1, 2, 3)]
    payer.pay(act="approve_one", who=refs[0])
    payer.pay(act="reject", who=refs[1], reason="44")
    platform.trouble("approve", DIES_AFTER)
    with suppress(ProcessDied):
        payer.pay(act="approve_one", who=refs[2])
    monkeypatch.setattr(platform, "write", lambda *_: None, raising=False)
    in_marks()
    at = payer.path
    posts = {
        "what is owed": (f"{at}/money/check", {"act": "approve"}),
        "a bonus": (
            f"{at}/money/check",
            {"act": "bonus", "who": refs[0], "amount": "1", "reason": "44"},
        ),
        "what publishing costs": (f"{at}/recruitment/plan", {}),
        "offers": (f"{at}/recruitment", {}),
        "a letter": (f"{at}/recruitment/write", {"whom": "finished", "text": "44"}),
        "a bad letter": (f"{at}/recruitment/write", {"whom": "x", "text": "44"}),
        "bad hours": (f"{at}/recruitment/extend", {"hours": "x"}),
        "discrepancies": (f"{at}/reconcile", {}),
        "settling without saying": (f"{at}/money/settle", {"payment": "1"}),
        "settling without a time": (f"{at}/money/settle", {"payment": "1", "seen": "paid"}),
        "a rehearsal": (f"{at}/rehearsal", {"people": "x"}),
    }
    replies = {name: payer.here.post(address, **form) for name, (address, form) in posts.items()}
    shown = {name for name, reply in replies.items() if reply.status_code == 200}
    assert shown == {"what is owed", "a bonus", "what publishing costs", "offers", "a letter",
                     "discrepancies"}  # fmt: skip
    pages = {name: reply.text for name, reply in replies.items()}
    agreed = dict(
        re.findall(r'name="(\w+)" value="([^"]*)"', unescape(pages["what publishing costs"]))
    )
    changed = payer.here.post(f"{at}/recruitment/publish", **{**agreed, "agreed": "x"})
    pages |= {"publishing what changed": changed.text, "money": payer.page()}
    pages |= {name: payer.here.get(f"{at}/participants/{name}").text for name in refs}
    # The names of what was made, and what the study and the platform say.
    said = "Which sentence sounds better? Thank you for taking part native language HIT"
    data = set(WORD.findall(" ".join((payer.run.ref, *refs, "researcher minimal", said))))
    left = {page: words for page, text in pages.items() if (words := unmarked(text) - data)}
    assert not left, f"no catalogue translates this: {left}"
