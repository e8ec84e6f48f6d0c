"""Links and calls of panels: templates such as ``{code}``, and signatures (hashes, HMACs)."""

import base64
import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import Protocol
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

_NAME = re.compile(r"\{([A-Za-z][\w-]*)\}", re.ASCII)
_ADDRESS = re.compile(
    r"(https://[\w.-]+|http://(127\.0\.0\.1|localhost|\[::1\]))(:\d{1,5})?([/?].*)?", re.ASCII
)


class UnfilledError(Exception):
    """A template contains a name whose value is unknown.

    Args:
        name: The name.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def names_in(template: str) -> list[str]:
    """Return the names in a template, in order.

    Raises:
        ValueError: A brace is not part of a name.
    """
    if re.search(r"[{}]", _NAME.sub("", template)):
        raise ValueError("names in braces, such as {participant}, and no other brace")
    return _NAME.findall(template)


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return a template's text with each name replaced by its value.

    Raises:
        UnfilledError: A value is missing or empty.
    """
    return _NAME.sub(lambda match: _get_value(match[1], values), template)


def fill_address(template: str, values: Mapping[str, str]) -> str:
    """Return a template's address; each value is percent-encoded so that it cannot alter the rest.

    A name at the very beginning represents a whole site and is not encoded.

    Raises:
        UnfilledError: A value is missing or empty.
    """

    def replaced(match: re.Match[str]) -> str:
        value = _get_value(match[1], values)
        return value if match.start() == 0 else quote(value, safe="")

    return _NAME.sub(replaced, template)


def is_address(template: str, values: Mapping[str, str]) -> bool:
    """Return whether a template's address has the same site for every participant.

    Args:
        template: The template.
        values: The study's own values; only these may determine the site.
    """
    first = _NAME.match(template)
    if first and first[1] in values:
        template = values[first[1]] + template[first.end() :]
    return _ADDRESS.fullmatch(template) is not None


def _get_value(name: str, values: Mapping[str, str]) -> str:
    value = values.get(name, "")
    if not value:
        raise UnfilledError(name)
    return value


# Hashes whose input text contains the secret.
HASHES = ("MD5", "SHA1", "SHA256")
HMACS = ("HMAC-MD5", "HMAC-SHA1", "HMAC-SHA256")
ENCODINGS = ("hex", "HEX", "base64", "base64url")
# Names in a signed text for the address and for the address without its site, each up to the
# argument with the signature.
URL, PATH = "url", "path"

_LAST_ARG = re.compile(r"(?P<before>.*)(?P<sign>[?&])(?P<argument>[\w.-]+)=\{(?P<name>[\w-]+)\}")


class Signing(Protocol):
    """The parameters of a signature's computation."""

    algorithm: str
    encoding: str
    secret: str
    signed: str


def signature_of(signing: Signing, values: Mapping[str, str]) -> str:
    """Return the signature of a text, in the panel's encoding.

    Args:
        signing: The algorithm, the encoding and the template of the text.
        values: The values that the template may name, and the secret.

    Raises:
        UnfilledError: A value is unknown, for instance the secret.
    """
    text = fill(signing.signed, values).encode()
    name = signing.algorithm.removeprefix("HMAC-").lower()
    if signing.algorithm in HASHES:
        digest = hashlib.new(name, text, usedforsecurity=False).digest()
    else:
        key = values.get(signing.secret, "")
        if not key:
            raise UnfilledError(signing.secret)
        digest = hmac.new(key.encode(), text, name).digest()
    return _encode_digest(digest, signing.encoding)


def is_signature(signing: Signing, received: str, parameters: Mapping[str, str]) -> bool:
    """Return whether a link has the expected signature, compared in constant time."""
    try:
        expected = signature_of(signing, parameters)
    except UnfilledError:
        return False
    return hmac.compare_digest(
        _normalise_signature(expected, signing.encoding),
        _normalise_signature(received, signing.encoding),
    )


def add_signatures(
    signings: Mapping[str, Signing], parameters: Mapping[str, str]
) -> dict[str, str]:
    """Return the values for templates, including every signature that does not sign an address."""
    values = dict(parameters)
    for name, signing in signings.items():
        if not signs_address(signing):
            try:
                values[name] = signature_of(signing, parameters)
            except UnfilledError:
                continue
    return values


def signed_address(
    template: str, signings: Mapping[str, Signing], values: Mapping[str, str]
) -> str:
    """Return a template's address, with a signature of the address at the end if requested.

    Raises:
        UnfilledError: A value, or the secret, is missing or empty.
    """
    signed_values = add_signatures(signings, values)
    last = last_signature(template, signings)
    if last is None:
        return fill_address(template, signed_values)
    address_before = encode_arguments(fill_address(last["before"], signed_values))
    site, path = _site_and_path(address_before)
    signing = signings[last["name"]]
    signature = signature_of(signing, {**signed_values, URL: f"{site}{path}", PATH: path})
    return f"{address_before}{last['sign']}{last['argument']}={quote(signature, safe='')}"


def last_signature(template: str, signings: Mapping[str, Signing]) -> re.Match[str] | None:
    """Return the match of a signature of the address at a template's end; None if there is none."""
    match = _LAST_ARG.fullmatch(template)
    if match is None or match["name"] not in signings:
        return None
    return match if signs_address(signings[match["name"]]) else None


def signs_address(signing: Signing) -> bool:
    """Return whether a signature signs the address that contains it."""
    return not {URL, PATH}.isdisjoint(names_in(signing.signed))


def parts_before(url: str, argument: str) -> dict[str, str]:
    """Return an address without one of its arguments, and the same without the site.

    Nothing is decoded, because the signature covers the text as sent.
    """
    address, mark, query = url.partition("?")
    parts = [part for part in query.split("&") if part.partition("=")[0] != argument]
    site, path = _site_and_path(address + (mark + "&".join(parts) if parts else ""))
    return {URL: f"{site}{path}", PATH: path}


def encode_arguments(address: str) -> str:
    """Return an address with its arguments encoded as a browser's form sends them."""
    parts = urlsplit(address)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    query = urlencode(pairs).replace("~", "%7E").replace("%2A", "*")
    return urlunsplit(parts._replace(query=query))


def _site_and_path(address: str) -> tuple[str, str]:
    scheme, _, after_scheme = address.partition("://")
    host, slash, path = after_scheme.partition("/")
    if not slash:
        host, mark, query = after_scheme.partition("?")
        return f"{scheme}://{host}", mark + query
    return f"{scheme}://{host}", slash + path


def _encode_digest(digest: bytes, encoding: str) -> str:
    if encoding == "base64":
        return base64.b64encode(digest).decode()
    if encoding == "base64url":
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")
    return digest.hex().upper() if encoding == "HEX" else digest.hex()


def _normalise_signature(text: str, encoding: str) -> bytes:
    """Return a signature in a normalised spelling, for comparison."""
    if encoding in ("hex", "HEX"):
        return text.lower().encode()
    # A plus that was not encoded as %2B arrives as a space.
    return text.replace(" ", "-").replace("+", "-").replace("/", "_").rstrip("=").encode()
