"""Nothing is sent into the network that the server stands in, whatever a name stands for."""

import ssl

import pytest

from webapp.jobs import delivery
from webapp.jobs.delivery import (
    DeliveryError,
    check_mail_address,
    check_url,
    check_webhook,
    is_public_address,
    send_webhook,
)

NAME = "study.example.org"
PUBLIC = ("93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "8.8.8.8", "1.1.1.1")
# Each by its RFC; the last ones hide an inner address within another.
INSIDE = (
    "127.0.0.1", "127.255.1.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255",
    "192.168.1.1", "169.254.169.254", "100.64.0.1", "192.0.0.1", "192.0.2.5", "198.18.0.1",
    "198.51.100.7", "203.0.113.9", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1",
    "fe80::1", "fe80::1%eth0", "fc00::1", "fd12:3456::1", "fec0::1", "ff02::1", "2001:db8::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::a00:1",
    "2002:7f00:1::", "2001:0:7f00:1::", "not an address", "",
)  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_outside(address):
    assert is_public_address(address)


@pytest.mark.parametrize("address", INSIDE)
def test_every_other_address_is_not(address):
    assert not is_public_address(address)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/x", "https://", "https://localhost/x", "https://127.0.0.1/",
        "https://[::1]/", "https://[::ffff:10.0.0.1]:99/", "https://2130706433/", "https://intranet/",
        "https://example.org:0/", "https://example.org:99999/", "https://user@example.org/",
        "https://example.org/#x", "https://example.org/a b", "ftp://example.org", "https://[x",
        "https://exämple.org/", "https://example.org/\n", "https://0x7f.1/", "https://127.1/",
    ],
)  # fmt: skip
def test_an_address_that_leads_inside_by_its_text_is_refused(url):
    # What looks like a name and is a number elsewhere is caught where it is resolved.
    with pytest.raises(DeliveryError):
        send_webhook(url, {}, resolve=lambda *_: ["127.0.0.1"])


@pytest.mark.parametrize(
    "host",
    ["0x7f.1", "0x7f000001", "127.1", "0177.0.0.1", "2130706433", "10.0x1", "8.8", "0x8.8.8.8"],
)
def test_a_number_in_another_form_is_refused_without_asking_what_it_stands_for(host):
    with pytest.raises(DeliveryError, match="not public"):
        check_url(f"https://{host}/x")
    assert check_url("https://8.8.8.8/x") == "https://8.8.8.8/x"


@pytest.mark.parametrize(
    ("found", "told"),
    [(["8.8.8.8"], ""), (["8.8.8.8", "10.0.0.1"], "not public"), (None, "cannot be found")],
)
def test_a_name_is_asked_for_when_it_is_added(found, told, monkeypatch):
    def resolve(*_: object) -> list[str]:
        if found is None:
            raise OSError(-2, "Name or service not known")
        return found

    monkeypatch.setattr(delivery, "resolve_host", resolve)
    if not told:
        assert check_webhook(f"https://{NAME}/x") == f"https://{NAME}/x"
        return
    with pytest.raises(DeliveryError, match=told):
        check_webhook(f"https://{NAME}/x")


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("ftp://example.org", "the address must begin with https:// and name a host"),
        ("https://user@example.org/", "must not contain a user name with @, a # or spaces"),
        ("https://example.org/", "the name example.org cannot be found: it is unknown"),
    ],
)
def test_what_is_wrong_with_an_address_is_told(url, told):
    def unknown(*_: object) -> list[str]:
        raise OSError(-2, "it is unknown")

    with pytest.raises(DeliveryError, match=told):
        send_webhook(url, {}, resolve=unknown)


@pytest.mark.parametrize("name", ["hooks..example.org", f"{'a' * 64}.example.org"])
def test_a_name_that_no_host_can_have_is_told_in_words(name):
    with pytest.raises(
        DeliveryError, match=f"the name {name} cannot be found: it is not the name of a host"
    ):
        send_webhook(f"https://{name}/", {})


def test_a_usual_webhook_is_taken():
    url = "https://hooks.example.org:8443/services/T0/B0/secret?x=1"
    assert check_url(url) == url


@pytest.mark.parametrize("found", [["10.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["::1", "8.8.8.8"], []])
def test_a_name_of_which_one_address_is_inside_is_refused_and_nobody_called(found, monkeypatch):
    monkeypatch.setattr(delivery, "_post", lambda *_: pytest.fail("somebody was called"))
    with pytest.raises(DeliveryError, match="not public"):
        send_webhook(f"https://{NAME}/", {}, resolve=lambda *_: found)


def test_the_connection_goes_to_the_address_that_was_checked(hook, monkeypatch):
    """The name is asked once, so it cannot stand for something else a moment later."""
    asked = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append((host, port))
        return ["127.0.0.1"] if len(asked) == 1 else pytest.fail("the name was asked again")

    monkeypatch.setattr(delivery, "is_public_address", lambda _: True)
    secure = ssl.create_default_context(cafile=hook.certificate)
    url = f"https://{NAME}:{hook.server_port}/200"
    send_webhook(url, {"text": "ü"}, resolve=resolve, secure=secure)
    assert hook.got == [(f"{NAME}:{hook.server_port}", "/200", {"text": "ü"})]
    assert asked == [(NAME, hook.server_port)]


def test_redirects_errors_and_certificates_of_others_are_failures(hook, monkeypatch):
    monkeypatch.setattr(delivery, "is_public_address", lambda _: True)
    secure = ssl.create_default_context(cafile=hook.certificate)

    def sent(path: str, name: str = NAME, **more: ssl.SSLContext) -> None:
        url = f"https://{name}:{hook.server_port}/{path}"
        send_webhook(url, {}, resolve=lambda *_: ["127.0.0.1"], **more)

    for status in ("301", "302", "307", "308"):
        with pytest.raises(DeliveryError, match="redirects to another address"):
            sent(status, secure=secure)
    with pytest.raises(DeliveryError, match="status 500"):
        sent("500", secure=secure)
    assert len(hook.got) == 5
    with pytest.raises(DeliveryError, match=r"^\S+ gave no answer: .*CERTIFICATE_VERIFY_FAILED"):
        sent("200")
    with pytest.raises(DeliveryError, match=r"^\S+ gave no answer: .*CERTIFICATE_VERIFY_FAILED"):
        sent("200", name="other.example.org", secure=secure)
    assert len(hook.got) == 5


@pytest.mark.parametrize("name", ["a@b", "a b@c.org", "a@c.org, d@e.org", "a@c.org\nBcc: x@y.z",
                                  "", "x", "@c.org", "<a@c.org>", "ä@c.org"])  # fmt: skip
def test_what_is_no_mail_address_is_refused(name):
    with pytest.raises(DeliveryError, match="is not a mail address"):
        check_mail_address(name)


def test_a_mail_address_is_taken():
    assert check_mail_address("a.b+lab@example.org") == "a.b+lab@example.org"
