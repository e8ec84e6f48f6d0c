"""Second factors with their recovery codes, and links for a new password."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the three tables."""
    op.create_table(
        "second_factor",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("secret", sa.String(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("confirmed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_step", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["account.id"], name="fk_second_factor_user_id_account"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_second_factor"),
        sa.UniqueConstraint("user_id", name="uq_second_factor_user_id"),
    )
    op.create_table(
        "recovery_code",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["account.id"], name="fk_recovery_code_user_id_account"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_recovery_code"),
        sa.UniqueConstraint("digest", name="uq_recovery_code_digest"),
    )
    op.create_index("ix_recovery_code_user_id", "recovery_code", ["user_id"])
    op.create_table(
        "password_link",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("made_by", sa.String(), nullable=False),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["account.id"], name="fk_password_link_user_id_account"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_password_link"),
        sa.UniqueConstraint("digest", name="uq_password_link_digest"),
    )
    op.create_index("ix_password_link_user_id", "password_link", ["user_id"])


def downgrade() -> None:
    """Take them back: an earlier version asks for passwords alone."""
    for name in ("password_link", "recovery_code", "second_factor"):
        op.drop_table(name)
