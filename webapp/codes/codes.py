"""A run's coders and their codes, and the versions that were frozen."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.coding.categories import Coding
from experiment.coding.normalise import normalise
from experiment.coding.rounds import Codes, Round
from webapp.codes.answers import DistinctAnswer
from webapp.codes.proposals import Proposals, find_proposals
from webapp.core.tokens import new_reference
from webapp.database.models import Run
from webapp.database.models.run import Code, Coder, FrozenCoding
from webapp.errors import RunError

N_CODERS = 2
LONGEST_LABEL = 60
# A coder's categories, by round and answer.
OwnCodes = Mapping[tuple[int, str], str]


def list_coders(session: Session, run: Run) -> Sequence[Coder]:
    """Return the people who code a run now: the two coders, then who decides."""
    query = select(Coder).where(Coder.run_id == run.id, Coder.ended_at.is_(None))
    return session.scalars(query.order_by(Coder.decides, Coder.id)).all()


def find_coder(session: Session, token: str) -> tuple[Coder, Run] | None:
    """Return the coder of a link and the run; None if the link is unknown or was ended."""
    query = select(Coder, Run).join(Run, Run.id == Coder.run_id)
    row = session.execute(query.where(Coder.token == token, Coder.ended_at.is_(None))).first()
    return None if row is None else (row[0], row[1])


def add_coder(session: Session, run: Run, label: str, *, decides: bool, now: datetime) -> Coder:
    """Add a coder, or the person who decides disagreements.

    Raises:
        RunError: The run has them already, or the name is missing or too long.
    """
    # The lock keeps two simultaneous requests from adding three coders.
    session.execute(select(Run.id).where(Run.id == run.id).with_for_update(key_share=True))
    label = " ".join(label.split())
    if not label or len(label) > LONGEST_LABEL:
        raise RunError(
            "the coder has no name" if not label else f"the name has {len(label)} characters",
            expected=f"a name of at most {LONGEST_LABEL} characters, which only you see",
        )
    if not needs_coder(session, run, decides=decides):
        raise RunError(
            "one person decides already" if decides else "two people code already",
            where=f"run {run.ref}",
            expected="two coders, and one person who decides where they disagree",
            remedy="End a link first; the codes made by it then no longer count",
        )
    coder = Coder(
        run_id=run.id, token=new_reference() + new_reference(), label=label, decides=decides,
        made_at=now,
    )  # fmt: skip
    session.add(coder)
    return coder


def end_coder(session: Session, run: Run, token: str, now: datetime) -> None:
    """End a coder's link; the codes made by it no longer count."""
    for coder in list_coders(session, run):
        if coder.token == token:
            coder.ended_at = now


def store_code(
    session: Session, coder: Coder, round_: Round, answer: str, category: str, now: datetime
) -> None:
    """Store a coder's category of an answer, in place of an earlier one."""
    # The lock keeps the same coder's two windows from storing the same answer at once.
    session.execute(select(Coder.id).where(Coder.id == coder.id).with_for_update(key_share=True))
    same = Code.coder_id == coder.id, Code.round == round_, Code.answer == answer
    code = session.scalar(select(Code).where(*same))
    if code is None:
        code = Code(coder_id=coder.id, round=round_, answer=answer)
        session.add(code)
    code.category, code.at = category, now


def read_codes(session: Session, coder: Coder) -> OwnCodes:
    """Return a coder's categories by round and answer."""
    query = select(Code.round, Code.answer, Code.category).where(Code.coder_id == coder.id)
    return {(round_, answer): category for round_, answer, category in session.execute(query)}


def collect_codes(
    session: Session, run: Run, coding: Coding, answers: Iterable[DistinctAnswer]
) -> Mapping[str, Codes]:
    """Return all codes of each answer, by its digest."""
    coders = list_coders(session, run)
    of_coders = [read_codes(session, coder) for coder in coders if not coder.decides]
    decisions = next((read_codes(session, coder) for coder in coders if coder.decides), {})
    return combine_codes(coding, answers, of_coders, decisions, find_proposals(session, run))


def combine_codes(
    coding: Coding,
    answers: Iterable[DistinctAnswer],
    of_coders: Sequence[OwnCodes],
    decisions: OwnCodes,
    proposals: Proposals,
) -> Mapping[str, Codes]:
    """Return all codes of each answer, by its digest.

    Args:
        coding: The categories, with the study's lists of answers.
        answers: The answers.
        of_coders: The codes of each coder; at most two.
        decisions: The codes of the person who decides disagreements.
        proposals: What a model proposed.
    """
    by_list = {
        normalise(text): category.name for category in coding.categories
        for text in category.answers
    }  # fmt: skip
    both = [*of_coders, *[{}] * (N_CODERS - len(of_coders))]

    def find(codes: OwnCodes, round_: Round, answer: DistinctAnswer) -> str:
        stored = (codes.get((round_, digest), "") for digest in reversed(answer.digests))
        return next(filter(None, stored), "")

    def find_proposed(answer: DistinctAnswer) -> str:
        proposed = (proposals.categories.get(digest, "") for digest in reversed(answer.digests))
        return next(filter(None, proposed), "")

    return {
        answer.digest: Codes(
            listed=by_list.get(answer.answer, ""),
            first=find(both[0], Round.FIRST, answer),
            second=find(both[1], Round.FIRST, answer),
            first_again=find(both[0], Round.AGAIN, answer),
            second_again=find(both[1], Round.AGAIN, answer),
            decided=find(decisions, Round.FIRST, answer),
            proposed=find_proposed(answer),
            proposed_by=proposals.model if find_proposed(answer) else "",
        )
        for answer in answers
    }


def needs_coder(session: Session, run: Run, *, decides: bool) -> bool:
    """Return whether the run needs another coder, or a person who decides disagreements."""
    n_already = sum(coder.decides == decides for coder in list_coders(session, run))
    return n_already < (1 if decides else N_CODERS)


def check_complete(codes: Mapping[str, Codes], where: str, remedy: str) -> None:
    """Check that codes can be frozen.

    Raises:
        RunError: An answer has not been coded by both coders, or a disagreement is undecided.
    """
    n_open = sum(not code.category and not code.is_disputed for code in codes.values())
    n_undecided = sum(not code.category and code.is_disputed for code in codes.values())
    if n_open or n_undecided or not codes:
        raise RunError(
            f"the coding is not complete: of {len(codes)} answers, {n_open} have not been coded "
            f"by both coders, and {n_undecided} disagreements are undecided",
            where=where,
            expected="two codes of each answer, and a decision on each disagreement",
            remedy=remedy,
        )


def check_complete_run(run: Run, codes: Mapping[str, Codes]) -> None:
    """Check that the codes of a run can be frozen: see ``check_complete``."""
    check_complete(codes, f"run {run.ref}", "Send the coders their links again")


def freeze(
    session: Session, run: Run, codes: Mapping[str, Codes], *, by: str, now: datetime
) -> FrozenCoding:
    """Freeze a version of the codes, which exports contain from then on.

    Raises:
        RunError: An answer has not been coded by both coders, or a disagreement is undecided.
    """
    check_complete_run(run, codes)
    session.execute(select(Run.id).where(Run.id == run.id).with_for_update(key_share=True))
    latest = find_frozen(session, run)
    frozen = FrozenCoding(
        run_id=run.id,
        number=1 if latest is None else latest.number + 1,
        who=by,
        at=now,
        codes={digest: list(astuple(code)) for digest, code in codes.items()},
    )
    session.add(frozen)
    return frozen


def find_frozen(session: Session, run: Run) -> FrozenCoding | None:
    """Return the latest frozen version of a run's codes; None if there is none."""
    query = select(FrozenCoding).where(FrozenCoding.run_id == run.id)
    return session.scalar(query.order_by(FrozenCoding.number.desc()).limit(1))
