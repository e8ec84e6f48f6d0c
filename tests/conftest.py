"""What every run of the tests says first and last: what was absent, and which tests it cost."""

import gc
import os
import signal
import ssl
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from typing import Any

import pytest
from httpx._transports import default as transports

from experiment import version
from tests import prerequisites
from tests.programs import start
from tests.temporary import keep_in_memory

# One thread of arithmetic for each process of the tests, set before a test loads a library that
# counts the processors: threads that wait for each other on a busy machine made a test of a
# training thirty times slower.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")


# A shell's background jobs ignore an interrupt, and so would every program that a test starts and
# interrupts: it would wait for them in vain.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.umask(_UMASK := os.umask(0o022))
keep_in_memory()
start.use()


def share_certificates() -> None:
    """Let httpx read the certificates of the world's authorities once, not for every client.

    That took 19 ms of the processor each time: 102 times in 42 tests of payments by platforms.
    """
    of_client = transports.create_ssl_context

    @cache
    def kept(trust_env: bool, *_: str | None) -> ssl.SSLContext:
        return of_client(trust_env=trust_env)

    def shared(verify: Any = True, cert: Any = None, trust_env: bool = True) -> ssl.SSLContext:
        if verify is not True or cert is not None:
            return of_client(verify=verify, cert=cert, trust_env=trust_env)
        named = (os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
        return kept(trust_env, *named)

    transports.create_ssl_context = shared


share_certificates()

# Which commit this is, is asked of git once, not by every comparison, capsule and export. A commit
# made while the tests run gives none of them two answers either.
version._commit = cache(version._commit)


def pytest_configure(config: pytest.Config) -> None:
    """Begin the process of which programs are copies, once for all that run tests."""
    if start.ADDRESS not in os.environ:
        warm = ExitStack()
        config.add_cleanup(warm.close)
        warm.enter_context(start.warm_process())


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage while tests and libraries are read: next to all that is made stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Spare the collector of garbage what stays until the end: the tests and the libraries.

    It took a quarter of the tests' time in the server's tests, mostly to look at those again.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Start three processes for two processors: a test that starts a server waits half its time."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (cores or 1) * 3 // 2


@pytest.fixture(autouse=True)
def _own_umask() -> Iterator[None]:
    """Begin with the umask that the process had: opening an instance changes it.

    So does what is made once for many tests, which comes before this.
    """
    os.umask(_UMASK)
    yield
    os.umask(_UMASK)


@pytest.fixture
def new_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start each program of the test, and what that starts, in a new interpreter."""
    monkeypatch.delenv(start.ADDRESS, raising=False)


def pytest_report_header() -> list[str]:
    return [f"ABSENT: {each.absent}" for each in prerequisites.missing()]


def skips(config: pytest.Config) -> dict[str, Counter[str]]:
    """Return, for each reason, how many tests of each file were skipped for it."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    found: dict[str, Counter[str]] = {}
    for report in reporter.stats.get("skipped", []) if reporter else []:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
        files = found.setdefault(reason.removeprefix("Skipped: "), Counter())
        files[report.nodeid.partition("::")[0]] += 1
    return dict(sorted(found.items(), key=lambda each: -each[1].total()))


def refused(config: pytest.Config) -> list[str]:
    """Return what continuous integration must have had: its absence fails the run."""
    names = tuple(each.name for each in prerequisites.ALL)
    on_ci = os.environ.get("CI") == "true"
    return [reason for reason in skips(config) if on_ci and reason.startswith(names)]


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    if session.exitstatus == pytest.ExitCode.OK and refused(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    yield
    # A run that is refused for what it skipped leaves no failures that `make retest` could pass.
    if (cache := getattr(session.config, "cache", None)) and refused(session.config):
        cache.set("cache/lastfailed", {})


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    found = skips(config)
    if not found:
        return
    total = sum(files.total() for files in found.values())
    terminalreporter.section(f"{total} tests were skipped", yellow=True)
    for reason, files in found.items():
        terminalreporter.line(f"{files.total():>5}  {reason}")
        for file, count in files.most_common():
            terminalreporter.line(f"{'':>5}  {count:>5}  {file}")
    for reason in refused(config):
        terminalreporter.line(f"CI=true, so this is a failure: {reason}", red=True)
