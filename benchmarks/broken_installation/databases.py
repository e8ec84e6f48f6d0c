"""What can be wrong with PostgreSQL, and with the address of the database."""

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

from broken_installation.fault import Fault, Injection
from broken_installation.injections import with_settings
from broken_installation.site import ROLE, Site

_POSTGRESQL, _DOCS = "postgresql", "sqlite:///FILE.*postgresql://"


def sql(break_: str, mend: str) -> Injection:
    """Return a fault that one statement makes, and another takes back."""

    @contextmanager
    def inject(site: Site) -> Iterator[None]:
        site.sql(break_)
        yield
        site.sql(mend)

    return inject


@contextmanager
def _away(site: Site) -> Iterator[None]:
    assert site.database is not None
    site.database.stop()
    yield
    site.database.start()


@contextmanager
def _hangs(site: Site) -> Iterator[None]:
    assert site.database is not None
    first = site.database.pid
    os.kill(first, signal.SIGSTOP)
    yield
    os.kill(first, signal.SIGCONT)


@contextmanager
def _nearly_used_up(site: Site) -> Iterator[None]:
    with ExitStack() as held:
        for _ in range(90):
            held.enter_context(closing(site.connect("postgres")))
        yield


@contextmanager
def _used_up(site: Site) -> Iterator[None]:
    site.sql(f"ALTER ROLE {ROLE} CONNECTION LIMIT 0")
    yield
    site.sql(f"ALTER ROLE {ROLE} CONNECTION LIMIT -1")


@contextmanager
def _table_is_locked(site: Site) -> Iterator[None]:
    with closing(site.connect("postgres")) as other:
        other.execute("BEGIN")
        other.execute("LOCK TABLE stamp IN ACCESS EXCLUSIVE MODE")
        yield


def _url(change: str, to: str) -> Injection:
    @contextmanager
    def inject(site: Site) -> Iterator[None]:
        with with_settings(database_url=site.url.replace(change, to))(site):
            yield

    return inject


_OLDER = "UPDATE alembic_version SET version_num = '0020'"
_NEWER = "UPDATE alembic_version SET version_num = '9999'"
_NOW = "UPDATE alembic_version SET version_num = (SELECT max(version_num) FROM kept_version)"
FAULTS = (
    Fault("the database is stopped", _away, "cannot be used", "[Ss]tart", _POSTGRESQL),
    Fault("the database hangs", _hangs, "cannot be used", "[Ss]tart|pg_stat", _POSTGRESQL),
    Fault(
        "the database takes reads only",
        sql(
            f"ALTER ROLE {ROLE} SET default_transaction_read_only = on",
            f"ALTER ROLE {ROLE} RESET default_transaction_read_only",
        ),
        "read-only transaction",
        "default_transaction_read_only|recovery",
        _POSTGRESQL,
    ),
    Fault(
        "the role is unknown", _url(f"//{ROLE}@", "//nobody@"), "nobody", "role|user", _POSTGRESQL
    ),
    Fault(
        "the database's name is wrong",
        _url("@/test", "@/toast"),
        "toast",
        "createdb|name",
        _POSTGRESQL,
    ),
    Fault(
        "the database's host is unknown",
        with_settings(database_url=f"postgresql://{ROLE}@nowhere.invalid/x"),
        "nowhere.invalid",
        "host",
        _POSTGRESQL,
    ),
    Fault(
        "the database's port is wrong",
        with_settings(database_url=f"postgresql://{ROLE}@127.0.0.1:9/x"),
        "refused",
        "[Ss]tart|port",
        _POSTGRESQL,
    ),
    Fault(
        "the address is no address", with_settings(database_url="postgres/x"), "database_url", _DOCS
    ),
    Fault(
        "the database is of another kind",
        with_settings(database_url="mysql://x@y/z"),
        "mysql",
        "SQLite|PostgreSQL",
    ),
    Fault(
        "the role may open too few connections",
        sql(f"ALTER ROLE {ROLE} CONNECTION LIMIT 12", f"ALTER ROLE {ROLE} CONNECTION LIMIT -1"),
        "admits 12 connections",
        "max_connections",
        _POSTGRESQL,
    ),
    Fault(
        "connections are nearly used up",
        _nearly_used_up,
        "are open",
        "max_connections",
        _POSTGRESQL,
    ),
    Fault(
        "the role may open no more connections",
        _used_up,
        "too many connections",
        "connections",
        _POSTGRESQL,
    ),
    Fault(
        "the schema is an older version's",
        sql(_OLDER, _NOW),
        "0020",
        "db upgrade",
        _POSTGRESQL,
    ),
    Fault(
        "the schema is a newer version's",
        sql(_NEWER, _NOW),
        "9999",
        "[Uu]pdate|newer|version",
        _POSTGRESQL,
    ),
    Fault(
        "the role may not write a table",
        sql(f"REVOKE INSERT ON stamp FROM {ROLE}", f"GRANT INSERT ON stamp TO {ROLE}"),
        "permission denied",
        "GRANT|[Oo]wner",
        _POSTGRESQL,
    ),
    Fault(
        "a table is gone",
        sql("ALTER TABLE response RENAME TO elsewhere", "ALTER TABLE elsewhere RENAME TO response"),
        "response",
        "restore|upgrade",
        _POSTGRESQL,
    ),
    Fault(
        "a table is locked by another program",
        _table_is_locked,
        "lock",
        "pg_stat_activity|other program",
        _POSTGRESQL,
    ),
    Fault("the database is in memory", with_settings(database_url="sqlite://"), "memory", "file"),
)
