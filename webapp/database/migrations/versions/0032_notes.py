"""Notes, tags, notifications, and runs that are put aside."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

_AT = sa.DateTime(timezone=True)
_TABLES = ("notice", "notification", "tag", "note")


def upgrade() -> None:
    """Add the tables; no run is put aside yet."""
    op.add_column("run", sa.Column("archived_at", _AT))
    for table, word in (("note", "text"), ("tag", "name")):
        op.create_table(
            table,
            sa.Column("id", sa.Integer(), nullable=False),
            sa.Column("run_id", sa.Integer(), nullable=False),
            sa.Column("participant_id", sa.Integer()),
            sa.Column("who", sa.String(), nullable=False),
            sa.Column("at", _AT, nullable=False),
            sa.Column(word, sa.String(), nullable=False),
            sa.PrimaryKeyConstraint("id", name=f"pk_{table}"),
            sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=f"fk_{table}_run_id_run"),
            sa.ForeignKeyConstraint(
                ["participant_id"],
                ["participant.id"],
                name=f"fk_{table}_participant_id_participant",
            ),
        )
        op.create_index(f"ix_{table}_participant_id", table, ["participant_id"])
    op.create_index("ix_note_run_id", "note", ["run_id"])
    op.create_index("ix_tag_run_id", "tag", ["run_id", "name", "participant_id"])
    op.create_table(
        "notification",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("way", sa.String(), nullable=False),
        sa.Column("address", sa.String(), nullable=False),
        sa.Column("causes", sa.String(), nullable=False),
        sa.Column("quiet_minutes", sa.Integer(), nullable=False),
        sa.Column("made_at", _AT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_notification"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["account.id"], name="fk_notification_user_id_account"
        ),
    )
    op.create_index("ix_notification_user_id", "notification", ["user_id"])
    op.create_table(
        "notice",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("notification_id", sa.Integer(), nullable=False),
        sa.Column("about", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("at", _AT, nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("next_at", _AT),
        sa.Column("sent_at", _AT),
        sa.Column("problem", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_notice"),
        sa.ForeignKeyConstraint(
            ["notification_id"], ["notification.id"], name="fk_notice_notification_id_notification"
        ),
        sa.UniqueConstraint("notification_id", "about", name="uq_notice_notification_id_about"),
    )
    op.create_index("ix_notice_next_at", "notice", ["next_at"])


def downgrade() -> None:
    """Take them away, with what was written."""
    for table in _TABLES:
        op.drop_table(table)
    op.drop_column("run", "archived_at")
