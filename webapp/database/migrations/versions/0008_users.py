"""Users, their sessions, the audit log, and who saw a run's results before its end."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Make the tables."""
    _make_accounts()
    _make_records()


def _make_accounts() -> None:
    op.create_table(
        "account",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("password_hash", sa.String(), nullable=False),
        sa.Column("made_at", _TIME, nullable=False),
        sa.Column("disabled_at", _TIME, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_account"),
        sa.UniqueConstraint("name", name="uq_account_name"),
    )
    op.create_table(
        "sign_in",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("token_hash", sa.String(), nullable=False),
        sa.Column("browser", sa.String(), nullable=False),
        sa.Column("made_at", _TIME, nullable=False),
        sa.Column("seen_at", _TIME, nullable=False),
        sa.Column("ended_at", _TIME, nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["account.id"], name="fk_sign_in_user_id_account"),
        sa.PrimaryKeyConstraint("id", name="pk_sign_in"),
        sa.UniqueConstraint("token_hash", name="uq_sign_in_token_hash"),
    )
    op.create_index("ix_sign_in_user_id", "sign_in", ["user_id"])
    op.create_table(
        "failed_sign_in",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name_digest", sa.String(), nullable=False),
        sa.Column("address_digest", sa.String(), nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_failed_sign_in"),
    )
    op.create_index("ix_failed_sign_in_name_digest", "failed_sign_in", ["name_digest", "at"])
    op.create_index("ix_failed_sign_in_address_digest", "failed_sign_in", ["address_digest", "at"])


def _make_records() -> None:
    op.create_table(
        "audit_entry",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("who", sa.String(), nullable=False),
        sa.Column("act", sa.String(), nullable=False),
        sa.Column("run_ref", sa.String(), nullable=True),
        sa.Column("before", sa.JSON(), nullable=False),
        sa.Column("after", sa.JSON(), nullable=False),
        sa.Column("previous_hash", sa.String(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit_entry"),
        sa.UniqueConstraint("number", name="uq_audit_entry_number"),
    )
    op.create_index("ix_audit_entry_run_ref", "audit_entry", ["run_ref"])
    op.create_table(
        "unblinding",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("who", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_unblinding_run_id_run"),
        sa.PrimaryKeyConstraint("id", name="pk_unblinding"),
        sa.UniqueConstraint("run_id", name="uq_unblinding_run_id"),
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_table("unblinding")
    op.drop_table("audit_entry")
    op.drop_table("failed_sign_in")
    op.drop_table("sign_in")
    op.drop_table("account")
