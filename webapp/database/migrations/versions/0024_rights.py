"""Corrections, whose data are stored and not used, and acts that wait for a second person."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Let somebody wish the same thing again, and say what a correction says."""
    with op.batch_alter_table("erasure") as batch:
        batch.add_column(
            sa.Column("mark", sa.String(), nullable=False, server_default=sa.text("''"))
        )
        batch.add_column(
            sa.Column("content", sa.String(), nullable=False, server_default=sa.text("''"))
        )
        batch.drop_constraint("uq_erasure_deed_digest", type_="unique")
        batch.create_unique_constraint("uq_erasure_deed_digest_mark", ["deed", "digest", "mark"])
    op.create_table(
        "asked_act",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("act", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("told", sa.String(), nullable=False),
        sa.Column("who", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_asked_act_run_id_run"),
        sa.PrimaryKeyConstraint("id", name="pk_asked_act"),
        sa.UniqueConstraint("run_id", "act", "digest", name="uq_asked_act_run_id_act_digest"),
    )
    op.add_column("participant", sa.Column("restricted_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    """Take it back: the file beside the database still has what was wished."""
    op.drop_table("asked_act")
    op.execute("DELETE FROM erasure WHERE mark <> ''")
    with op.batch_alter_table("erasure") as batch:
        batch.drop_constraint("uq_erasure_deed_digest_mark", type_="unique")
        batch.drop_column("content")
        batch.drop_column("mark")
        batch.create_unique_constraint("uq_erasure_deed_digest", ["deed", "digest"])
    op.drop_column("participant", "restricted_at")
