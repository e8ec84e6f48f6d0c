"""Blindness: a run's results stay hidden until a user unblinds it, with a reason.

A blind run reveals no answer, side, time or catch result of a single trial. It shows only the
number of answers, total durations and proposed exclusions.

A researcher who sees accuracy during a run may stop it at a favourable moment, or examine
participants with unexpected answers more closely. If a rule of the study counts targets, a blind
run shows of a verdict only whether the participant is kept; otherwise also the rule and its
figures.
"""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.exclusion.rules import blind_verdict, count_targets
from experiment.records import Verdict as DecidedVerdict
from experiment.studies.study import Study
from webapp.database.engine import Sessions
from webapp.database.models import Run, Unblinding, Verdict
from webapp.database.retry import run_in_transaction
from webapp.errors import RequestError, RunError
from webapp.runs.second_person import GuardedRequest, close_request, find_first_requester
from webapp.users.audit_log import record_act

_SHORTEST_REASON = 10


def find_unblinding(session: Session, run: Run) -> Unblinding | None:
    """Return a run's unblinding: by whom, when and why; None while the run is blind."""
    return session.scalar(select(Unblinding).where(Unblinding.run_id == run.id))


def unblind_run(session: Session, run: Run, *, by: str, reason: str, now: datetime) -> None:
    """Unblind a run's results permanently.

    Raises:
        RequestError: The reason is too short.
    """
    check_reason(reason)
    if find_unblinding(session, run) is not None:
        return
    session.add(Unblinding(run_id=run.id, who=by, reason=reason, at=now))
    record_act(session, by, "run unblinded", now, run_ref=run.ref, after={"reason": reason})


def unblind_with_second_person(
    sessions: Sessions, run: Run, study: Study, *, by: str, reason: str, now: datetime
) -> None:
    """Unblind a run's results, after a second person's request if the study requires one.

    Raises:
        RequestError: The reason is too short.
        SecondPersonError: Nobody else has requested it.
    """
    check_reason(reason)
    description = "the results to be shown"
    guarded_request = GuardedRequest(run, study, "unblinding", "", description, by, now)
    first = find_first_requester(sessions, guarded_request)

    def change(session: Session) -> None:
        unblind_run(session, run, by=f"{first} and {by}" if first else by, reason=reason, now=now)
        close_request(session, run, "unblinding", "")

    run_in_transaction(sessions, change)


def check_reason(reason: str) -> None:
    """Check that a reason is long enough.

    Raises:
        RequestError: The reason is too short.
    """
    if len(reason) < _SHORTEST_REASON:
        raise RequestError(
            "Please say in a few words why you want to see the results now. The reason is kept.",
            status=400,
            code="no_reason",
        )


def is_blind(session: Session, run: Run) -> bool:
    """Return whether a run's results are hidden; simulated runs are never blind."""
    return not run.simulated and find_unblinding(session, run) is None


def get_visible_verdict(study: Study, verdict: Verdict, *, blind: bool) -> DecidedVerdict:
    """Return a verdict as its run may show it now.

    While the run is blind and a rule counts targets, this is only whether the participant is kept.

    Args:
        study: The run's study.
        verdict: The stored verdict.
        blind: Whether the run is blind; see ``is_blind``.
    """
    decided = DecidedVerdict(verdict.kept, verdict.rule, verdict.evidence)
    return blind_verdict(study.exclusion, decided) if blind else decided


def hides_rules(session: Session, run: Run, study: Study) -> bool:
    """Return whether the run may not show now which rule excluded a participant."""
    return is_blind(session, run) and count_targets(study.exclusion)


def check_unblinded(session: Session, run: Run) -> None:
    """Check that a run's results may be seen.

    Raises:
        RunError: The run is blind.
    """
    if is_blind(session, run):
        raise RunError(
            f"the run {run.ref} is blind: its answers cannot be shown or exported",
            expected="an unblinded run; the reason for unblinding is kept",
            remedy=f'Unblind it on its page, or with: parallax unblind {run.ref} --reason "..."',
        )
