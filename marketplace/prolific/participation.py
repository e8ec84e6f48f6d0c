"""Participants' actions: find a study, take a place, open its signed link, complete or return."""

from datetime import timedelta
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from sqlalchemy import func, select

from marketplace.prolific.errors import ParticipantRefusedError, RefusedError
from marketplace.prolific.money import TAKING_STATUSES, count_taken_places
from marketplace.prolific.people import Participant, is_eligible
from marketplace.prolific.store import Account, Moment, Study, Submission
from marketplace.prolific.studies import update_status
from marketplace.prolific.submissions import complete_with_code, mark_returned, mark_started

_IN_PROGRESS = ("RESERVED", "ACTIVE")


def open_studies(moment: Moment, participant: Participant) -> list[Study]:
    """Return the studies that a participant may take now, newest first."""
    live = select(Study).where(Study.status == "ACTIVE").order_by(Study.id.desc())
    return [study for study in moment.session.scalars(live) if _is_open(moment, participant, study)]


def _is_open(moment: Moment, participant: Participant, study: Study) -> bool:
    config = study.fields["submissions_config"]
    own_submissions = _own_submissions(moment, participant, study)
    most_submissions = config["max_submissions_per_participant"] or 1
    if any(submission.status in _IN_PROGRESS for submission in own_submissions) or (
        most_submissions != -1 and len(own_submissions) >= most_submissions
    ):
        return False
    if count_taken_places(moment.session, study) >= study.places:
        return False
    at_once = config["max_concurrent_submissions"] or -1
    if at_once != -1 and _count_in_progress(moment, study) >= at_once:
        return False
    return is_eligible(moment, participant, study)


def take_place(moment: Moment, participant: Participant, ref: str) -> Submission:
    """Take a place in a study for a participant, and return the new submission.

    Raises:
        ParticipantRefusedError: No place is left for the participant.
    """
    study = next((s for s in open_studies(moment, participant) if s.ref == ref), None)
    if study is None:
        raise ParticipantRefusedError("no_place", "This study has no place for you.", status=404)
    submission = Submission(
        study=study,
        participant=participant.ref,
        reserved_at=moment.now,
        link=_free_link(moment, study),
    )
    moment.session.add(submission)
    update_status(moment, study)
    return submission


def find_own_submission(moment: Moment, participant: Participant, ref: str) -> Submission:
    """Return one of the participant's submissions.

    Raises:
        ParticipantRefusedError: The participant has no submission with that identifier.
    """
    submission = moment.session.scalar(
        select(Submission).where(Submission.ref == ref, Submission.participant == participant.ref)
    )
    if submission is None:
        raise ParticipantRefusedError("unknown", "You have no such submission.", status=404)
    return submission


def open_study(moment: Moment, submission: Submission) -> None:
    """Record the participant's start; opening the study again changes nothing.

    Raises:
        ParticipantRefusedError: The submission is no longer in progress.
    """
    if submission.status not in _IN_PROGRESS:
        raise _closed_error(submission)
    mark_started(moment, submission)


def enter_code(moment: Moment, participant: Participant, code: str) -> Submission:
    """Complete the study that a participant opened last with a code; return its submission.

    Raises:
        ParticipantRefusedError: The participant has no study in progress.
    """
    working = (
        select(Submission)
        .where(Submission.participant == participant.ref, Submission.status.in_(_IN_PROGRESS))
        .order_by(Submission.started_at.desc(), Submission.id.desc())
    )
    submission = moment.session.scalars(working).first()
    if submission is None:
        raise ParticipantRefusedError("nothing", "You are not taking part in any study now.")
    return complete_submission(moment, submission, code)


def complete_submission(moment: Moment, submission: Submission, code: str) -> Submission:
    """Complete a submission with any code that its participant enters.

    Raises:
        ParticipantRefusedError: The submission is no longer in progress.
    """
    try:
        complete_with_code(moment, submission, code, "participant", {})
    except RefusedError as error:
        raise _closed_error(submission) from error
    update_status(moment, submission.study)
    return submission


def return_submission(moment: Moment, submission: Submission) -> None:
    """Return (give back) a participant's own submission.

    Raises:
        ParticipantRefusedError: The submission has been reviewed already.
    """
    try:
        mark_returned(moment, submission)
    except RefusedError as error:
        raise _closed_error(submission) from error
    update_status(moment, submission.study)


def _closed_error(submission: Submission) -> ParticipantRefusedError:
    status = submission.status
    return ParticipantRefusedError(status.lower(), f"This submission is {status} already.")


def _own_submissions(moment: Moment, participant: Participant, study: Study) -> list[Submission]:
    query = select(Submission).where(
        Submission.study_id == study.id, Submission.participant == participant.ref
    )
    return list(moment.session.scalars(query))


def _count_in_progress(moment: Moment, study: Study) -> int:
    count_query = select(func.count()).where(
        Submission.study_id == study.id, Submission.status.in_(_IN_PROGRESS)
    )
    return moment.session.execute(count_query).scalar_one()


def count_places_by_link(moment: Moment, study: Study) -> dict[int, int]:
    """Return how many places of each link of a study are taken, by the link's number."""
    return dict(
        moment.session.execute(
            select(Submission.link, func.count())
            .where(Submission.study_id == study.id, Submission.status.in_(TAKING_STATUSES))
            .group_by(Submission.link)
        ).all()
    )


def _free_link(moment: Moment, study: Study) -> int:
    used = count_places_by_link(moment, study)
    links = study.fields.get("access_details", [])
    free = (n for n, link in enumerate(links) if used.get(n, 0) < link["total_allocation"])
    return next(free, 0)


_ISSUER = "https://www.prolific.com"
_SIGNATURE_LIFETIME = timedelta(minutes=2)
_KEY_BITS = 2048


def new_private_key() -> str:
    """Return a new private key in PEM format."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=_KEY_BITS)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


def public_key_set(account: Account) -> dict[str, Any]:
    """Return the public keys for verifying arrivals, as a JSON Web Key Set."""
    key = RSAAlgorithm.to_jwk(_load_private_key(account.private_key).public_key(), as_dict=True)
    facts = {"kid": account.key_id, "alg": "RS256", "use": "sig", "key_ops": ["verify"]}
    return {"keys": [{**key, **facts}]}


@lru_cache(1)
def _load_private_key(private_key: str) -> rsa.RSAPrivateKey:
    """Return an account's private key; cached, because reading it takes longer than using it."""
    private = serialization.load_pem_private_key(private_key.encode(), password=None)
    assert isinstance(private, rsa.RSAPrivateKey)
    return private


def build_study_url(moment: Moment, submission: Submission) -> str:
    """Return the study address for a submission's participant."""
    fields = submission.study.fields
    links = fields.get("access_details") or [{"external_url": fields["external_study_url"]}]
    address = str(links[submission.link]["external_url"])
    for name, value in (
        ("PROLIFIC_PID", submission.participant),
        ("STUDY_ID", submission.study.ref),
        ("SESSION_ID", submission.ref),
    ):
        address = address.replace(f"{{{{%{name}%}}}}", value)
    if not fields["is_external_study_url_secure"]:
        return address
    separator = "&" if urlsplit(address).query else "?"
    return f"{address}{separator}prolific_token={_sign_arrival(moment, submission, address)}"


def _sign_arrival(moment: Moment, submission: Submission, address: str) -> str:
    claims = {
        "iss": _ISSUER,
        "iat": moment.now,
        "exp": moment.now + _SIGNATURE_LIFETIME,
        "aud": address,
        "sub": submission.ref,
        "prolific": {
            **dict(parse_qsl(urlsplit(address).query)),
            "workspace_id": moment.account.workspace,
        },
    }
    account = moment.account
    return jwt.encode(
        claims, _load_private_key(account.private_key), "RS256", {"kid": account.key_id}
    )
