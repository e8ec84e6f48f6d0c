"""The addresses of arriving participants: the study link with their ids, signed on request."""

from datetime import timedelta
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from marketplace.prolific.store import Account, Moment, Submission

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
