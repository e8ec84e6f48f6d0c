"""Currencies, payments in two steps, and the statuses of assignments one by one."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_USD = "USD"


def upgrade() -> None:
    """Give runs and payments a currency, which was US dollars, and rename what follows from it."""
    _add_text("run", "currency", _USD)
    _add_text("payment", "currency", _USD)
    _add_text("payment", "category", "")
    with op.batch_alter_table("payment") as payment:
        payment.alter_column(
            "amount_cents",
            new_column_name="amount_minor",
            existing_type=sa.Integer(),
            existing_nullable=False,
        )
        payment.add_column(sa.Column("set_up_id", sa.String()))
        payment.add_column(sa.Column("ordered_at", sa.DateTime(timezone=True)))
    op.add_column("assignment", sa.Column("paid_minor", sa.Integer()))
    _rename_status("accepted", "active")


def _add_text(table: str, column: str, value: str) -> None:
    op.add_column(table, sa.Column(column, sa.String()))
    rows = sa.table(table, sa.column(column, sa.String()))
    op.execute(sa.update(rows).values({column: value}))
    with op.batch_alter_table(table) as changed:
        changed.alter_column(column, existing_type=sa.String(), nullable=False)


def _rename_status(before: str, after: str) -> None:
    rows = sa.table("assignment", sa.column("status", sa.String()))
    op.execute(sa.update(rows).where(rows.c.status == before).values(status=after))


def downgrade() -> None:
    """Forget them."""
    _rename_status("active", "accepted")
    op.drop_column("assignment", "paid_minor")
    with op.batch_alter_table("payment") as payment:
        payment.drop_column("ordered_at")
        payment.drop_column("set_up_id")
        payment.alter_column(
            "amount_minor",
            new_column_name="amount_cents",
            existing_type=sa.Integer(),
            existing_nullable=False,
        )
        payment.drop_column("currency")
        payment.drop_column("category")
    with op.batch_alter_table("run") as run:
        run.drop_column("currency")
