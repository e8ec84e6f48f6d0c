"""What can be wrong with the web server in front, its certificate and the public address."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from broken_installation.fault import Fault, Injection
from broken_installation.injections import with_settings
from broken_installation.site import Site
from tests.free_ports import free_port


@contextmanager
def _not_trusted(site: Site) -> Iterator[None]:
    site.stop()
    with with_settings(trusted_proxies="192.0.2.1")(site):
        site.start()
        yield


def front(break_: Callable[[Site], object]) -> Injection:
    """Return a fault of the web server in front."""

    @contextmanager
    def inject(site: Site) -> Iterator[None]:
        break_(site)
        yield
        site.front.well()
        site.front.leads_to(site.settings["port"])

    return inject


def _set(**settings: object) -> Injection:
    return front(lambda site: site.front.__dict__.update(settings))


_RENEW, _CHECK = "[Rr]enew", "[Cc]heck"
FAULTS = (
    Fault(
        "the web server in front is away",
        with_settings(public_url=f"https://127.0.0.1:{free_port()}"),
        "does not answer",
        _CHECK,
    ),
    Fault(
        "public_url has a name that leads nowhere",
        with_settings(public_url="https://nowhere.invalid"),
        "nowhere.invalid",
        _CHECK,
    ),
    Fault(
        "public_url is missing",
        with_settings(public_url="", host="0.0.0.0"),
        "public_url is not set",
        "Set public_url",
    ),
    Fault("public_url is no address", with_settings(public_url="study"), "public_url", "https?://"),
    Fault(
        "the web server in front leads nowhere",
        front(lambda s: s.front.leads_to(free_port())),
        "answers 502",
        _CHECK,
    ),
    Fault("the web server in front shows its own page", _set(answers=200), "web", _CHECK),
    Fault("the Host is not passed on", _set(host="elsewhere.example"), "answers 400", "Host"),
    Fault(
        "security headers are removed",
        _set(removed=frozenset({"content-security-policy"})),
        "security headers",
        "pass",
    ),
    Fault(
        "the request's id is removed",
        _set(removed=frozenset({"x-request-id"})),
        "X-Request-ID",
        "pass",
    ),
    Fault("large bodies are refused", _set(largest=100 * 1024), "200 KiB", "client_max_body_size"),
    Fault(
        "the web server in front is not trusted",
        _not_trusted,
        "one client",
        "trusted_proxies",
        restarts=True,
    ),
    Fault("the certificate has ended", front(lambda s: s.front.show(days=-1)), "expired", _RENEW),
    Fault(
        "the certificate ends in two days",
        front(lambda s: s.front.show(days=2)),
        "good for 2 days",
        _RENEW,
    ),
    Fault(
        "the certificate ends in ten days",
        front(lambda s: s.front.show(days=10.4)),
        "good for 10 days",
        _RENEW,
    ),
    Fault(
        "the certificate is for another name",
        front(lambda s: s.front.show(days=90, address="127.0.0.9")),
        "mismatch|not valid for",
        "certificate",
    ),
    Fault(
        "nobody trusts the certificate",
        front(lambda s: s.front.show(days=90, trusted=False)),
        "not trusted|self-signed",
        "SSL_CERT_FILE",
    ),
)
