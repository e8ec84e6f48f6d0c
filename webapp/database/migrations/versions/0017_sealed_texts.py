"""Other people's words that may identify a person are encrypted in place."""

from collections.abc import Callable

import sqlalchemy as sa
from alembic import op

from webapp.core.sealing import Sealer
from webapp.database.models.identity import sealer_of

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_COLUMNS = (
    ("assignment", "receipt"),
    ("link", "label"),
    ("outgoing_report", "answer"),
    ("payment", "reason"),
    ("payment", "answer"),
    ("payment", "set_up_id"),
)


def upgrade() -> None:
    """Seal every text."""
    _rewrite(lambda sealer, text: sealer.seal(text))


def downgrade() -> None:
    """Write every text in clear again."""
    _rewrite(lambda sealer, sealed: sealer.open(sealed))


def _rewrite(change: Callable[[Sealer, str], str]) -> None:
    connection = op.get_bind()
    for table, name in _COLUMNS:
        rows = sa.table(table, sa.column("id"), sa.column(name, sa.String()))
        column = rows.c[name]
        for id_, value in connection.execute(
            sa.select(rows.c.id, column).where(column != "")
        ).all():
            found = sa.update(rows).where(rows.c.id == id_)
            text = change(sealer_of(connection.dialect), value)
            connection.execute(found.values({name: text}))
