"""No button of a run's pages is refused in the very state in which a page shows it."""

import re
from collections.abc import Iterator
from html import unescape

import pytest

from tests.webapp.conftest import start_run
from webapp.database.models import Run
from webapp.runs.blinding import unblind_run
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database
FIELD = re.compile(
    r"<(input|select|textarea)\b([^>]*)>(.*?)(?=<input|<select|<textarea|$)", re.DOTALL
)
STATES = {
    "open and blind": (),
    "closed": ("close",),
    "archived and unblinded": ("close", "archive", "unblind"),
}
PAGES = ("", "/participants", "/money", "/links", "/reports")


def attributes(text: str) -> dict[str, str]:
    return {name: unescape(value) for name, value in re.findall(r'([\w-]+)(?:="([^"]*)")?', text)}


def list_buttons(page: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield where each button of a page leads, and what its form sends if nobody types."""
    for head, body in re.findall(r"<form\b([^>]*)>(.*?)</form>", page, re.DOTALL):
        form, fields = attributes(head), {}
        if form.get("method") != "post" or form["action"].endswith("/sign-out"):
            continue
        for kind, words, rest in FIELD.findall(body):
            field = attributes(words)
            if kind == "select":
                first, text = re.search(r"<option\b([^>]*)>([^<]*)", rest).groups()
                fields[field["name"]] = attributes(first).get("value", text)
            elif field.get("type") in ("checkbox", "radio"):
                if "checked" in field or "required" in field:
                    fields[field["name"]] = field.get("value", "on")
            elif field.get("type") != "file" and "name" in field:
                typed = "1" if field.get("type") == "number" else "long enough an answer"
                fields[field["name"]] = field.get("value") or (typed if "required" in field else "")
        for words in re.findall(r"<button\b([^>]*)>", body):
            button = attributes(words)
            named = {button["name"]: button.get("value", "")} if "name" in button else {}
            yield form["action"], fields | named


@pytest.fixture
def make_run(sessions, study, clock):
    """Return a function that launches a run and brings it into a state."""

    def make(here, recruiter: str, state: str) -> str:
        run = start_run(sessions, study, recruiter)
        for act in STATES[state]:
            if act == "unblind":
                reason = "to see every button"
                with sessions.begin() as session:
                    found = session.get_one(Run, run.id)
                    unblind_run(session, found, by="a test", reason=reason, now=clock())
            else:
                assert here.post(f"/runs/{run.ref}/{act}").status_code == 303
        return run.ref

    return make


@pytest.mark.parametrize(
    ("recruiter", "state"),
    [
        ("simulator", "open and blind"),
        ("simulator", "archived and unblinded"),
        ("mturk", "closed"),  # of an open run, the platform would be asked
    ],
)
def test_no_button_is_refused_in_the_state_in_which_it_is_shown(
    make_run, researcher, state, recruiter
):
    here, refused, pressed = researcher(Role.OWNER), [], 0
    for page in PAGES:
        ref = make_run(here, recruiter, state)
        shown = here.get(f"/runs/{ref}{page}")
        for number in range(len(list(list_buttons(shown.text)))):
            # Each button is pressed in a run of its own, because it may change the state.
            ref = make_run(here, recruiter, state)
            buttons = list(list_buttons(here.get(f"/runs/{ref}{page}").text))
            address, fields = buttons[number]
            with here.client.post(address, data=fields) as answer:
                pressed += 1
                if answer.status_code == 409:
                    refused.append((page, address.removeprefix(f"/researcher/runs/{ref}")))
    assert refused == []
    assert pressed > 5


def test_an_empty_or_blind_run_is_offered_no_export(make_run, researcher, sessions, start, run):
    here = researcher(Role.OWNER)
    assert "/export" not in here.get(f"/runs/{run.ref}").text
    start(run).answer_all()
    assert "/export" not in here.get(f"/runs/{run.ref}").text
    assert here.post(f"/runs/{run.ref}/unblind", reason="to see it exported").status_code == 303
    assert f'action="/researcher/runs/{run.ref}/export"' in here.get(f"/runs/{run.ref}").text
