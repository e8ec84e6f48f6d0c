"""A form or an address that means nothing is refused in a sentence, and nothing is done."""

import pytest
from sqlalchemy import func, select

from webapp.database.models import AuditEntry
from webapp.users.roles import Role

# What is sent to a page, {run} being a run, and what it says then. None: it is asked for.
WRONG = [
    (
        "/accounts/change",
        {"name": "owner", "act": "promote"},
        "Only another owner can change your own",
    ),
    ("/accounts/change", {"name": "viewer", "act": "promote"}, "The form names no change."),
    (
        "/accounts/change",
        {"name": "nobody", "act": "disable"},
        "The account was not changed: there is no",
    ),
    ("/accounts/remove-second-factor", {"name": "owner"}, "Remove your own second factor on its"),
    (
        "/accounts/add",
        {"name": "viewer", "role": "viewer"},
        'a user "viewer" already exists. Give the user another name.',
    ),
    ("/accounts/change", {"form_token": "old", "act": "x"}, "This form is too old, so nothing was"),
    ("/projects/lab/members", {"name": "nobody", "role": "manager"}, "Invite people who have no"),
    ("/projects/lab/members", {"name": "viewer", "role": "x"}, '"x" is not a role in a project'),
    ("/projects", {"name": "lab"}, 'a project "lab" already exists. Give the project another name'),
    ("/runs/{run}/film?who=nobody", None, "the run is blind. Unblind the run first, on"),
    ("/runs/{run}/reports/download?report=none", None, "The run has no such report."),
    ("/runs/{run}/participants/nobody", None, "has no participant nobody."),
    (
        "/runs/{run}/participants/nobody/restrict",
        {"reason": "They asked"},
        "has no participant nobody.",
    ),
    ("/runs/{run}/unblind", {"reason": "x"}, "Please say in a few words why you want to see the"),
    ("/sign-in/provider", None, "There is no such page."),
    ("/runs/{run}/recruitment/extend", {"hours": "two"}, "The hours must be a whole number."),
    ("/runs/{run}/notes/remove", {"number": "7"}, "The note was removed already."),
    ("/notifications", {"address": "", "way": "mail"}, "an address has from 1 to"),
    ("/notifications/remove", {"number": "7"}, "You have no such address."),
    (
        "/studies/power",
        {"study": "minimal", "simulations": "9", "per_list": "5", "difference": "much"},
        "The difference must be a number",
    ),
    ("/shared?report=none&link=x", None, "This link is not valid, or it was ended. Ask the sender"),
    ("/sign-in/back?state=x", None, "You are not signed in: the provider did not say so"),
]


@pytest.mark.one_database
def test_what_no_form_of_ours_sends_is_refused_in_a_sentence(run, researcher, sessions):
    viewer = researcher(Role.VIEWER)
    told = "Your role is viewer; this needs the role owner. Ask an owner of this installation."
    assert told in viewer.get("/accounts").text
    owner = researcher(Role.OWNER)
    assert owner.post("/projects", name="lab").status_code == 303

    def acts() -> int:
        with sessions() as session:
            return session.scalar(select(func.count()).select_from(AuditEntry)) or 0

    before = acts()
    for path, form, told in WRONG:
        path = path.format(run=run.ref)
        answer = owner.get(path) if form is None else owner.post(path, **form)
        said = answer.text.replace("&#34;", '"').replace("&#39;", "'")
        assert told in said, path
        assert 400 <= answer.status_code < 500, path
    assert acts() == before
