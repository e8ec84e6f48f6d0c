"""Signatures are those that vendors print in their own documentation."""

import pytest
from pydantic import ValidationError

from experiment.panels.panel import Panel
from experiment.panels.signing import (
    UnfilledError,
    add_signatures,
    encode_arguments,
    is_signature,
    parts_before,
    signature_of,
    signed_address,
)
from experiment.panels.table import OwnSignature
from tests.experiment.panels.test_panel import OWN_PANEL, with_changes

# What each vendor documents: how it signs, what is known, and what comes out.
TOLUNA = (
    "https://www.survey.com/survey/selfserve/53b/g004/231268?list=494&supplier_id=494&idtype=0"
    "&country=US&decLang=english&ID=1000001&sname=qp4lYkBILSpbVy11yCf9RayJ1-I&IDS=1000001"
)
VECTORS = {
    # developer.bitlabs.ai, "Securing callbacks through hashing"
    "bitlabs, a callback": (
        {"algorithm": "HMAC-SHA1", "secret": "key", "signed": "{url}"},
        {"key": "JLOIAUNMHFli7ZJOQVEzm98rzqnm9",
         "url": "https://publisher.com/complete?uid=8cc877ee-af19-488d-b28d-216fb866b996&val=500"},
        "dbcd6bb8ca677344592842a52b4fca9bec36cd4b",
    ),
    # docs.api.toluna.com, "Survey Start URL Signature"
    "toluna, a start": (
        {"algorithm": "HMAC-SHA256", "encoding": "HEX", "secret": "key", "signed": "{url}"},
        {"key": "239494365", "url": TOLUNA},
        "EBEDA7E495B2B5F499989CE5086494DA223B256B57457C3858A16666A2414BA5",
    ),
    # docs.integratedpanel.toluna.com, "Standard Encryption". Its other example, a notification with
    # HMAC MD5, comes out with no key and text that the page could mean.
    "toluna, a way back": (
        {"algorithm": "HMAC-SHA256", "secret": "key", "signed": "{url}&"},
        {"key": "supersecret", "url": "https://partnerA.com?status=qualified&mc=mymember"},
        "f0c397932b98251aca505db3bb2c364711f18237f5202017d24b97ec522a373e",
    ),
    # github.com/juhasev/sample-ninja-help, "Survey exit redirects"
    "sample ninja, SHA-1": (
        {"algorithm": "SHA1", "signed": "{path}{key}"},
        {"key": "MySecretPasscode", "path": "/p/exit?id=9bb379a3-7831-4a55-8036-085aeff18790&s=c"},
        "17637eac2a8bbd056bb31b19a31768846474b5fa",
    ),
    "sample ninja, SHA-256": (
        {"algorithm": "SHA256", "signed": "{path}{key}"},
        {"key": "MySecretPasscode", "path": "/p/exit?id=9bb379a3-7831-4a55-8036-085aeff18790&s=c"},
        "f9c2db85f0d4644b4f8e187bea2bd2c62d4aa216af5f42c4c4a4b9b153bc1bd0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("vector", VECTORS)
def test_a_vendors_own_example_comes_out_and_no_other_does(vector):
    how, known, expected = VECTORS[vector]
    signing = OwnSignature.model_validate(how)
    assert signature_of(signing, known) == expected
    assert is_signature(signing, expected, known)
    assert is_signature(signing, expected.swapcase(), known)
    for name in known:
        assert not is_signature(signing, expected, {**known, name: f"{known[name]}x"})
    assert not is_signature(signing, expected[:-1], known)
    assert not is_signature(signing, "", known)


@pytest.mark.parametrize("algorithm", ["HMAC-MD5", "HMAC-SHA1", "HMAC-SHA256"])
@pytest.mark.parametrize("encoding", ["base64", "base64url", "hex", "HEX"])
def test_every_encoding_is_read_as_it_is_written_also_through_a_forms_spaces(algorithm, encoding):
    signing = OwnSignature.model_validate(
        {"algorithm": algorithm, "encoding": encoding, "secret": "key", "signed": "{who}"}
    )
    for n in range(30):
        known = {"key": "k", "who": f"w{n}"}
        made = signature_of(signing, known)
        assert is_signature(signing, made.replace("+", " ").rstrip("="), known)
        assert encoding != "base64url" or not set(made) & set("+/=")


def test_the_documented_way_back_of_sample_ninja_is_made_by_the_preset():
    panel = Panel.model_validate(
        {"preset": "sample_ninja", "values": {"site": "https://yourcompany.panelservice.io"}}
    )
    known = {
        **panel.values, "key": "MySecretPasscode", "code": "c",
        "pid": "9bb379a3-7831-4a55-8036-085aeff18790",
    }  # fmt: skip
    assert signed_address(panel.address, panel.signatures, known) == (
        "https://yourcompany.panelservice.io/p/exit?id=9bb379a3-7831-4a55-8036-085aeff18790&s=c"
        "&hash=f9c2db85f0d4644b4f8e187bea2bd2c62d4aa216af5f42c4c4a4b9b153bc1bd0"
    )


def test_without_the_secret_nothing_is_signed_and_no_address_is_made():
    panel = Panel.model_validate({"preset": "cint"})
    known = {**panel.values, "RID": "r1", "code": "10"}
    with pytest.raises(UnfilledError):
        signed_address(panel.address, panel.signatures, known)
    assert "exit_hash" not in add_signatures(panel.signatures, known)


def test_what_is_signed_is_what_the_browser_sends():
    sent = encode_arguments("https://panel.example/end?who=a%20b~%2A&x=%2F")
    assert sent == "https://panel.example/end?who=a+b%7E*&x=%2F"
    opened = "https://study.example/run/abc?who=w%201&sig=x&b=2"
    assert parts_before(opened, "sig") == {
        "url": "https://study.example/run/abc?who=w%201&b=2",
        "path": "/run/abc?who=w%201&b=2",
    }


SIGNED = {"algorithm": "HMAC-SHA1", "secret": "key", "signed": "{url}"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"signatures": {"mark": {**SIGNED, "secret": "other"}}}, "name of one of"),
        ({"signatures": {"mark": {**SIGNED, "secret": ""}}}, "name of one of"),
        ({"signatures": {"mark": {"algorithm": "SHA1", "signed": "{who}"}}}, "a hash has no key"),
        ({"signatures": {"mark": {**SIGNED, "signed": "{whom}"}}}, r"instead of \{whom\}"),
        ({"signatures": {"mark": {**SIGNED, "signed": ""}}}, "the text that is signed"),
        ({"signatures": {"who": SIGNED}}, "two meanings"),
        (
            {"signatures": {"mark": SIGNED}, "address": "{site}/back?m={mark}&code={code}"},
            "as the last argument",
        ),
        (
            {"signatures": {"mark": SIGNED},
             "endings": {"completed": {"method": "form", "address": "{site}/x",
                                       "fields": {"m": "{mark}"}}}},
            "in addresses alone",
        ),
        (
            {"signature": {"parameter": "sig", "algorithm": "SHA256", "signed": "{who}"}},
            "a hash has no key",
        ),
        ({"signature": {"parameter": "sig", "algorithm": "HMAC-MD5", "secret": "key"}}, "signed"),
    ],
)  # fmt: skip
def test_a_signature_that_could_not_be_made_or_proves_nothing_is_refused(changes, message):
    with pytest.raises(ValidationError, match=message):
        with_changes(**changes)


def test_a_panel_of_ones_own_signs_its_ways_back():
    panel = with_changes(
        signatures={"mark": SIGNED}, address="{site}/back?who={participant}&code={code}&m={mark}"
    )
    known = {**panel.values, "key": "k", "participant": "w1", "code": "DONE"}
    signed = signed_address(panel.address, panel.signatures, known)
    assert signed.startswith("https://panel.example/back?who=w1&code=DONE&m=")
    assert set(OWN_PANEL) <= set(panel.model_fields_set)
