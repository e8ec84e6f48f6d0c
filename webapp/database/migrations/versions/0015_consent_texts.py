"""The consent texts that people agreed to, and when a run's identifying data were erased."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table and the columns; which text was agreed to before is not known."""
    op.create_table(
        "consent_text",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("first_agreed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_consent_text_run_id_run"),
        sa.PrimaryKeyConstraint("id", name="pk_consent_text"),
        sa.UniqueConstraint("run_id", "version", name="uq_consent_text_run_id_version"),
        sa.UniqueConstraint("run_id", "sha256", name="uq_consent_text_run_id_sha256"),
    )
    with op.batch_alter_table("participant") as participant:
        participant.add_column(sa.Column("consent_text_id", sa.Integer()))
        participant.create_foreign_key(
            "fk_participant_consent_text_id_consent_text",
            "consent_text",
            ["consent_text_id"],
            ["id"],
        )
    op.add_column("run", sa.Column("identities_erased_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    """Drop them."""
    op.drop_column("run", "identities_erased_at")
    with op.batch_alter_table("participant") as participant:
        participant.drop_constraint(
            "fk_participant_consent_text_id_consent_text", type_="foreignkey"
        )
        participant.drop_column("consent_text_id")
    op.drop_table("consent_text")
