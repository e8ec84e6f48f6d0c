"""A copy that takes over the right to pay sees what another one did in the marketplace."""

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select

import parallax
from tests.webapp.restoring import copied_far
from webapp.commands import paying_copy
from webapp.core.clock import utc_now
from webapp.database.engine import reading
from webapp.database.models import Hit
from webapp.recruiters.mturk import client as mturk_client
from webapp.recruiters.mturk.client import open_client

pytestmark = pytest.mark.one_database
RECENT = "another copy may still pay"


@pytest.fixture
def take_over(endpoint, monkeypatch) -> Callable[..., Result]:
    """Return a function that takes over the right to pay in another copy's folder."""

    def call(folder: Path, *options: str, ask: str = "", later_by: int = 0) -> Result:
        words = ["paying-copy", "take-over", "--other-copy-is-gone", "--instance", str(folder)]
        with monkeypatch.context() as patch:
            patch.setattr(paying_copy, "utc_now", lambda: utc_now() + timedelta(minutes=later_by))
            patch.setattr(mturk_client, "open_client", lambda _: open_client(endpoint, attempts=1))
            return CliRunner().invoke(parallax.cli, [*words, *options], input=ask)

    return call


def test_payments_of_a_copy_without_a_server_stop_a_take_over_for_an_hour(
    publish_run, worker, shell, bonus_file, ref_of, endpoint, sessions, instance, take_over
):
    publish_run()
    worker("ABCECIL").take_part()
    assert "never_paid" in shell("reconcile").output
    far = copied_far(sessions, instance)
    assert shell("approve", "--yes").exit_code == 0
    bonus = bonus_file("ABCECIL", "0.50", "Fine")
    assert shell("bonus", "--file", bonus, "--yes").exit_code == 0
    who = ref_of("ABCECIL")
    seen = (f"a bonus of $0.50 was paid to {who}, 2", f"the work of {who} was approved, 2")
    # The marketplace says when that was, so the first look of this copy may come later.
    for later_by in (0, 58):
        refused = take_over(far, "--yes", later_by=later_by)
        assert RECENT in str(refused.exception)
        assert "(2 of the acts above)" in str(refused.exception)
        assert all(text in refused.output for text in seen)
        assert f"at {endpoint})" in refused.output
    asked = take_over(far, ask="y\n", later_by=61)
    assert all(text in asked.output for text in seen)
    assert asked.exit_code == 0


def test_hits_that_only_the_other_copy_posted_or_prolonged_are_seen(
    publish_run, platform, run, sessions, instance, take_over
):
    before = copied_far(sessions, instance)
    n_hits = len(publish_run())
    refused = take_over(before, "--yes")
    assert refused.output.count(" places was published, 2") == n_hits
    assert f"({n_hits} of the acts above)" in str(refused.exception)
    shutil.rmtree(before)
    far = copied_far(sessions, instance)
    with reading(sessions) as session:
        hit = session.scalars(select(Hit).order_by(Hit.id)).first()
    platform.expire(hit.platform_id, hit.expires_at + timedelta(minutes=6))
    refused = take_over(far, "--yes")
    assert refused.output.count(f" instead of {hit.expires_at:%Y-%m-%d %H:%M} UTC, first seen") == 1
    assert take_over(far, "--yes", later_by=61).exit_code == 0


def test_a_receipt_that_only_a_copy_with_our_keys_signs_shows_that_one_serves_workers(
    publish_run, worker, sessions, instance, take_over
):
    publish_run()
    far = copied_far(sessions, instance)
    (served, unserved) = (worker("AMANN"), worker("AMBEA"))
    served.take_part()
    unserved.accept()
    form = {"assignmentId": unserved.assignment_id, "receipt": "forged"}
    assert unserved.site.post("/mturk/externalSubmit", data=form).status_code == 200
    refused = take_over(far, "--yes")
    seen = " was submitted by somebody who never took part in this copy, 2"
    assert f"{served.assignment_id}{seen}" in refused.output
    assert f"{unserved.assignment_id}{seen}" in refused.output
    assert "(1 of the acts above)" in str(refused.exception)


def test_a_copy_that_did_nothing_and_a_silent_marketplace_need_a_person_s_word(
    publish_run, worker, control, run, sessions, instance, take_over
):
    publish_run()
    worker("ABCECIL").take_part()
    far = copied_far(sessions, instance)
    control("faults", faults=[{"kind": "server_error", "operation": "GetHIT"}])
    refused = take_over(far, "--yes")
    assert f"run {run.ref}: a platform could not be asked" in str(refused.exception)
    control("faults", faults=[])
    assert take_over(far, "--yes").exit_code == 0
