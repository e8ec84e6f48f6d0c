"""What platforms call people is sealed, in one table to which all others refer."""

import json
from collections.abc import Iterable

import sqlalchemy as sa
from alembic import op

from webapp.database.models.identity import sealer_of

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_STAND_IN = "forgotten:"
# Table, column in clear, column of the key, whether it may be empty.
_COLUMNS = (
    ("participant", "platform_id", "person_key", True),
    ("assignment", "platform_id", "work_key", False),
    ("assignment", "worker_id", "worker_key", False),
    ("payment", "worker_id", "worker_key", False),
    ("payment", "assignment", "work_key", True),
    ("link_visit", "parameters", "said_key", False),
)
_UNIQUE = {
    "participant": (["run_id", "platform_id"], ["run_id", "person_key"]),
    "assignment": (["platform_id", "worker_id"], ["work_key", "worker_key"]),
}
_NO_INDEX = ("assignment", "work_key")  # the unique constraint begins with it
_IDENTITY = sa.table(
    "identity", sa.column("id"), sa.column("hash"), sa.column("sealed"), sa.column("forgotten")
)


def upgrade() -> None:
    """Make the table, seal every name, and take away the columns that held them in clear."""
    op.create_table(
        "identity",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("sealed", sa.String(), nullable=False),
        sa.Column("forgotten", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_identity"),
        sa.UniqueConstraint("hash", name="uq_identity_hash"),
    )
    keys: dict[str, int] = {}
    for table, clear, key, _ in _COLUMNS:
        op.add_column(table, sa.Column(key, sa.Integer()))
        _fill(table, clear, key, keys)
    for table, columns in _by_table():
        with op.batch_alter_table(table) as batch:
            if table in _UNIQUE:
                batch.drop_constraint(_unique(table, _UNIQUE[table][0]), type_="unique")
            for clear, key, nullable in columns:
                batch.alter_column(key, existing_type=sa.Integer(), nullable=nullable)
                batch.create_foreign_key(f"fk_{table}_{key}_identity", "identity", [key], ["id"])
                batch.drop_column(clear)
            if table in _UNIQUE:
                batch.create_unique_constraint(_unique(table, _UNIQUE[table][1]), _UNIQUE[table][1])
            if table == "link_visit":
                batch.drop_column("digest")
        for _, key, _ in columns:
            if (table, key) != _NO_INDEX:
                op.create_index(f"ix_{table}_{key}", table, [key])


def downgrade() -> None:
    """Write every name in clear again."""
    for table, clear, key, _ in _COLUMNS:
        type_ = sa.JSON() if clear == "parameters" else sa.String()
        op.add_column(table, sa.Column(clear, type_))
        _open(table, clear, key)
    op.add_column("link_visit", sa.Column("digest", sa.String(), server_default="", nullable=False))
    for table, columns in _by_table():
        for _, key, _ in columns:
            if (table, key) != _NO_INDEX:
                op.drop_index(f"ix_{table}_{key}", table)
        with op.batch_alter_table(table) as batch:
            if table in _UNIQUE:
                batch.drop_constraint(_unique(table, _UNIQUE[table][1]), type_="unique")
            for clear, key, nullable in columns:
                type_ = sa.JSON() if clear == "parameters" else sa.String()
                batch.alter_column(clear, existing_type=type_, nullable=nullable)
                batch.drop_constraint(f"fk_{table}_{key}_identity", type_="foreignkey")
                batch.drop_column(key)
            if table in _UNIQUE:
                batch.create_unique_constraint(_unique(table, _UNIQUE[table][0]), _UNIQUE[table][0])
            if table == "link_visit":
                batch.alter_column("digest", existing_type=sa.String(), server_default=None)
    op.drop_table("identity")


def _fill(table: str, clear: str, key: str, keys: dict[str, int]) -> None:
    connection = op.get_bind()
    json_ = clear == "parameters"
    rows = sa.table(
        table,
        sa.column("id"),
        sa.column(clear, sa.JSON() if json_ else sa.String()),
        sa.column(key),
    )
    for id_, value in connection.execute(sa.select(rows.c.id, rows.c[clear])).all():
        if value is None:
            continue
        name = json.dumps(value, sort_keys=True) if json_ else value
        if name not in keys:
            sealer = sealer_of(connection.dialect)
            keys[name] = len(keys) + 1
            values = {
                "id": keys[name],
                "hash": sealer.digest(name),
                "sealed": sealer.seal(name),
                "forgotten": name.startswith(_STAND_IN),
            }
            connection.execute(sa.insert(_IDENTITY).values(values))
        found = sa.update(rows).where(rows.c.id == id_)
        connection.execute(found.values({key: keys[name]}))
    if keys and connection.dialect.name == "postgresql":
        # The keys were given here, so the sequence is told.
        connection.execute(
            sa.text("SELECT setval(pg_get_serial_sequence('identity', 'id'), :last)"),
            {"last": len(keys)},
        )


def _open(table: str, clear: str, key: str) -> None:
    connection = op.get_bind()
    json_ = clear == "parameters"
    rows = sa.table(
        table,
        sa.column("id"),
        sa.column(clear, sa.JSON() if json_ else sa.String()),
        sa.column(key),
    )
    sealed = sa.select(rows.c.id, _IDENTITY.c.sealed).join_from(
        rows, _IDENTITY, _IDENTITY.c.id == rows.c[key]
    )
    for id_, value in connection.execute(sealed).all():
        name = sealer_of(connection.dialect).open(value)
        found = sa.update(rows).where(rows.c.id == id_)
        connection.execute(found.values({clear: json.loads(name) if json_ else name}))


def _by_table() -> Iterable[tuple[str, list[tuple[str, str, bool]]]]:
    for table in ("participant", "assignment", "payment", "link_visit"):
        yield table, [columns for name, *columns in _COLUMNS if name == table]  # type: ignore[misc]


def _unique(table: str, columns: Iterable[str]) -> str:
    return f"uq_{table}_{'_'.join(columns)}"
