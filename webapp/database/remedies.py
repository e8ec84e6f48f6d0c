"""Remedies for database failures, by error message."""

import re

_REMEDIES = (
    (
        r"[Cc]onnection refused|failed: No such file or directory|is the server running"
        r"|closed the connection|shutting down"
        r"|starting up|terminating connection",
        "Start PostgreSQL (systemctl start postgresql), or correct the host and the port in"
        " database_url",
    ),
    (
        r"timeout expired|timed out",
        "Check PostgreSQL's machine, and which sessions wait there (pg_stat_activity); restart it"
        " if it hangs",
    ),
    (
        r"resolve host|translate host name|[Nn]ame or service not known",
        "Correct the host in database_url",
    ),
    (
        r'role ".*" does not exist|authentication failed|no password supplied',
        "Correct the user or the password in database_url, or create the role: createuser NAME",
    ),
    (
        r'database ".*" does not exist',
        "Correct the name in database_url, or create the database: createdb --owner ROLE NAME",
    ),
    (
        r"too many (connections|clients)|connection slots",
        "Raise max_connections, or the role's CONNECTION LIMIT: docs/database.md#connections",
    ),
    (
        r"unsupported startup parameter|prepared statement .* (does not|already) exist",
        "A connection pooler such as PgBouncer answers. Let database_url name PostgreSQL, and the"
        " pooler in ?pooler=HOST:PORT: docs/database.md#through-a-connection-pooler",
    ),
    (
        r"read-only transaction",
        "The database is read-only. If it is a standby, name the primary in database_url;"
        " otherwise, reset default_transaction_read_only for the role and the database",
    ),
    (
        r"permission denied for|must be owner",
        "Let the role of database_url own the database and its tables: REASSIGN OWNED BY ... TO"
        " ROLE, or GRANT ALL ON ALL TABLES IN SCHEMA public TO ROLE",
    ),
    (
        r"lock timeout|database is locked",
        "Another program holds a lock. Find it with pg_stat_activity, or for SQLite with fuser"
        " FILE, and end it",
    ),
    (
        r"malformed|not a database|disk I/O error|invalid page",
        "The file is damaged. Keep a copy of it, and restore the newest backup: parallax db"
        " restore FILE (docs/database.md#backup-and-restore)",
    ),
    (
        r"readonly database|unable to open database file|Permission denied",
        "Give the database's file and its folder to the user of the service (chown), with the"
        " right to write (chmod 600, and 700 for the folder)",
    ),
    (
        r"disk is full|[Nn]o space left|[Nn]o such file or directory: .*base/",
        "Free some space on the database's disk",
    ),
    (
        r"no such table|no such column|UndefinedTable|relation .* does not exist",
        "The tables were changed by hand. Restore the newest backup: parallax db restore FILE",
    ),
    (
        r"parse SQLAlchemy URL|load plugin|No module named|dialect",
        "Write database_url as sqlite:///FILE or as postgresql://USER@HOST/NAME (PostgreSQL needs"
        " the extra postgres): docs/database.md",
    ),
)
_DEFAULT_REMEDY = (
    "The setting database_url names the database; docs/database.md lists possible problems"
)


def remedy_for(problem: str) -> str:
    """Return the remedy for a failure, given the database's error message."""
    return next(
        (remedy for words, remedy in _REMEDIES if re.search(words, problem)), _DEFAULT_REMEDY
    )
