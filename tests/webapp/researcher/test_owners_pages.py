"""What owners do without a shell: accounts, settings, backups."""

import re

import pytest
from sqlalchemy import select

from webapp.database.models import User
from webapp.jobs.long_job_queue import do_job
from webapp.jobs.long_jobs import Jobs, JobState
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database


@pytest.fixture
def here(researcher):
    return researcher(Role.OWNER)


def test_an_account_is_made_changed_disabled_and_let_in_again(here, browser, sessions):
    made = here.post("/accounts/add", name="ben", role="viewer")
    link = re.search(r'<code class="link">[^<]*(/new-password[^<]+)</code>', made.text)[1]
    ben = browser()
    given = {
        "token": link.partition("token=")[2],
        "new": "a horse of ben",
        "again": "a horse of ben",
    }
    assert ben.client.post("/researcher/new-password", data=given).status_code in (200, 303)
    assert ben.sign_in("ben", "a horse of ben").status_code == 303
    assert ben.get("/studies").status_code == 403
    here.post("/accounts/change", name="ben", act="role", role="researcher")
    assert ben.get("/studies").status_code == 303  # signed out: the role is another one
    ben.sign_in("ben", "a horse of ben")
    assert ben.get("/studies").status_code == 200
    here.post("/accounts/change", name="ben", act="disable")
    assert ben.sign_in("ben", "a horse of ben").status_code != 303
    here.post("/accounts/change", name="ben", act="enable")
    assert ben.sign_in("ben", "a horse of ben").status_code == 303


def test_an_account_for_elsewhere_has_no_password(here, session):
    assert here.post("/accounts/add", name="c@uni.example", role="member", elsewhere="yes")
    made = session.scalars(select(User).where(User.name == "c@uni.example")).one()
    assert made.password_hash == ""


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("add", {"name": "owner", "role": "viewer"}),
        ("add", {"name": "two words", "role": "viewer"}),
        ("add", {"name": "dora", "role": "king"}),
        ("change", {"name": "owner", "act": "disable"}),
        ("change", {"name": "nobody", "act": "disable"}),
        ("change", {"name": "owner", "act": "role", "role": "viewer"}),
    ],
)
def test_what_cannot_be_changed_is_told_and_changes_nothing(path, form, here, session):
    assert here.post(f"/accounts/{path}", **form).status_code == 400
    [only] = session.scalars(select(User)).all()
    assert (only.name, only.role, only.disabled_at) == ("owner", Role.OWNER, None)


def test_settings_are_shown_and_secrets_are_stars(here, instance):
    (instance / "parallax.toml").write_text('oidc_client_secret = "open sesame"\n', "utf-8")
    page = here.get("/settings").text
    assert "<code>oidc_client_secret</code>" in page and "***" in page
    assert "open sesame" not in page and "parallax.toml</td>" in page


def test_a_backup_is_made_once_beside_the_server(here, instance, clock):
    for _ in range(2):
        assert here.post("/backups").status_code == 303
    [job] = Jobs(instance).list_all()
    assert "waiting" in here.get("/backups").text
    assert do_job(instance, job.id, clock) is JobState.DONE, Jobs(instance).find(job.id).text
    [file] = (instance / "room_backups").glob("*.backup")
    page = here.get("/backups").text
    assert file.name in page and "done" in page
    assert here.post("/backups").status_code == 303
    assert len(list(Jobs(instance).list_all())) == 1
