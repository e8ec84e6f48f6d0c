"""A copy that takes over the right to pay sees at the platform what another one did meanwhile."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import parallax
from tests.webapp.restoring import copied_far
from webapp.commands import paying_copy
from webapp.recruiters.prolific import opening
from webapp.recruiters.prolific.opening import open_prolific

pytestmark = pytest.mark.one_database
LACKS = "The platforms show what this copy's database lacks"


@pytest.fixture
def at_copy(monkeypatch, clock) -> Callable[..., Result]:
    """Return a function that gives a command in another copy's folder."""
    monkeypatch.setattr(paying_copy, "utc_now", clock)
    monkeypatch.setattr("webapp.commands.reconcile.utc_now", clock)

    def call(folder: Path, *command: str, ask: str = "") -> Result:
        with monkeypatch.context() as patch:
            patch.setattr(
                opening,
                "open_prolific",
                lambda settings, live: open_prolific(settings, live=live, attempts=1, now=clock),
            )
            words = [*command, "--instance", str(folder)]
            return CliRunner().invoke(parallax.cli, words, input=ask)

    return call


@pytest.fixture
def take_over(at_copy) -> Callable[..., Result]:
    def call(folder: Path, *options: str, ask: str = "") -> Result:
        return at_copy(
            folder, "paying-copy", "take-over", "--other-copy-is-gone", *options, ask=ask
        )

    return call


RECENT = "another copy may still pay"


def test_a_bonus_of_a_copy_without_a_server_stops_a_take_over_for_an_hour(
    lab, shell, bonus_file, sessions, instance, take_over, clock
):
    submission = lab.hand_in(study := lab.publish())
    assert shell("approve", lab.run.ref, "--yes").exit_code == 0
    assert shell("close", lab.run.ref).exit_code == 0
    far = copied_far(sessions, instance)
    bonus = ("bonus", lab.run.ref, "--file", bonus_file(submission, "0.25"), "--yes")
    assert shell(*bonus).exit_code == 0
    line = (
        f"  run {lab.run.ref}: a bonus of $0.25 was paid to {lab.ref_of(submission)}, first seen "
        f"here {clock():%Y-%m-%d %H:%M} UTC (study {study} at {lab.stand_in.url})"
    )
    refused = take_over(far, ask="y\n")
    assert refused.output.splitlines()[1:] == [line]
    assert RECENT in str(refused.exception)
    assert f"at {clock() + timedelta(hours=1):%Y-%m-%d %H:%M} UTC or later" in str(
        refused.exception
    )
    clock.go_on(minutes=59)
    assert RECENT in str(take_over(far, "--yes").exception)
    clock.go_on(minutes=1)
    asked = take_over(far, ask="n\n")
    assert line in asked.output
    assert "Take over? [y/N]: n" in asked.output
    assert take_over(far, "--yes").exit_code == 0


def test_an_approval_is_seen_also_after_the_copy_entered_it_into_its_ledger(
    lab, shell, sessions, instance, at_copy, take_over, clock
):
    submission = lab.hand_in(lab.publish())
    far = copied_far(sessions, instance)
    assert shell("approve", lab.run.ref, "--yes").exit_code == 0
    clock.go_on(hours=3)
    at_copy(far, "reconcile", lab.run.ref, "--fix")
    recorded = f"was approved, first seen here {clock():%Y-%m-%d %H:%M} UTC"
    clock.go_on(minutes=59)
    refused = take_over(far, "--yes")
    assert f"the work of {lab.ref_of(submission)} {recorded}" in refused.output
    assert RECENT in str(refused.exception)
    clock.go_on(minutes=1)
    asked = take_over(far, ask="y\n")
    assert LACKS not in asked.output
    assert asked.exit_code == 0


def test_more_places_and_a_person_whom_only_the_other_copy_served_are_seen(
    lab, sessions, instance, take_over, clock
):
    study = lab.publish()
    far = copied_far(sessions, instance)
    lab.platform.grow(study, 5)
    submission = lab.hand_in(study)
    refused = take_over(far, "--yes")
    person, places = refused.output.splitlines()[1:]
    assert "an offer has 5 places instead of 2, first seen here" in places
    assert f"{submission} was submitted by somebody who never took part in this copy" in person
    assert "first seen" not in person
    # People can submit without taking part, so their submissions alone are no proof.
    assert "(1 of the acts above)" in str(refused.exception)


def test_an_approval_that_was_due_without_anybody_stops_no_take_over(
    lab, sessions, instance, take_over, clock
):
    submission = lab.hand_in(lab.publish())
    far = copied_far(sessions, instance)
    clock.go_on(days=21)
    asked = take_over(far, ask="y\n")
    seen = f"the work of {lab.ref_of(submission)} was approved, perhaps by the platform itself"
    assert seen in asked.output
    assert asked.exit_code == 0


def test_a_study_that_only_the_other_copy_published_is_seen(
    lab, run, sessions, instance, take_over, clock
):
    far = copied_far(sessions, instance)
    lab.publish()
    published = clock()
    clock.go_on(minutes=2)
    refused = take_over(far, "--yes")
    assert f"an offer with 2 places was published, {published:%Y-%m-%d %H:%M} UTC" in refused.output
    clock.go_on(minutes=58)
    assert take_over(far, "--yes").exit_code == 0


def test_a_copy_that_did_nothing_is_not_seen_and_the_question_says_so(
    lab, shell, sessions, instance, at_copy, take_over
):
    lab.hand_in(lab.publish())
    assert shell("approve", lab.run.ref, "--yes").exit_code == 0
    far = copied_far(sessions, instance)
    shown = at_copy(far, "paying-copy", "show").output
    asked = take_over(far, ask="y\n")
    assert LACKS not in shown + asked.output
    assert "What nobody can exclude: a copy that has done nothing lately" in asked.output
    assert asked.exit_code == 0


def test_without_the_platforms_answer_a_person_must_decide(
    lab, stand_in, sessions, instance, at_copy, take_over
):
    lab.publish()
    far = copied_far(sessions, instance)
    stand_in.faults({"kind": "server_error", "operation": "get-submissions", "count": 9})
    assert f"could not be asked: run {lab.run.ref}" in at_copy(far, "paying-copy", "show").output
    refused = take_over(far, "--yes")
    assert "a platform could not be asked what another copy did lately" in str(refused.exception)
    asked = take_over(far, ask="n\n")
    assert f"The platform could not be asked: run {lab.run.ref}: GET /submissions/" in asked.output
    assert "Take over without the answer of these platforms? [y/N]: n" in asked.output
    with closing(sqlite3.connect(far / "parallax.sqlite3")) as database, database:
        database.execute("UPDATE run SET simulated = 1")
    assert take_over(far, "--yes").exit_code == 0, "only play money could be paid twice"
