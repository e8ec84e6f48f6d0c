"""Projects with members, invitations, tokens and limits; runs that there were belong to none."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

_AT = sa.DateTime(timezone=True)
_TABLES = ("project_job", "api_token", "invitation", "membership", "project")
_KEY = "fk_run_project_id_project"
# In a column's own definition, so that SQLite need not copy the table.
_ADD = f"ALTER TABLE run ADD COLUMN project_id INTEGER CONSTRAINT {_KEY} REFERENCES project (id)"


def upgrade() -> None:
    """Add the tables. Everybody may do with the runs that there are what they could before."""
    op.create_table(
        "project",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("made_at", _AT, nullable=False),
        sa.Column("ended_at", _AT),
        *(
            sa.Column(name, sa.Integer(), nullable=False)
            for name in ("most_runs", "most_participants", "most_upload_mb", "most_jobs")
        ),
        sa.PrimaryKeyConstraint("id", name="pk_project"),
        sa.UniqueConstraint("name", name="uq_project_name"),
    )
    op.execute(_ADD)
    _of_project(
        "membership",
        _of_user(),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("made_at", _AT, nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["account.id"], name="fk_membership_user_id_account"),
        sa.UniqueConstraint("project_id", "user_id", name="uq_membership_project_id_user_id"),
    )
    op.create_index("ix_membership_user_id", "membership", ["user_id"])
    _of_project(
        "invitation",
        *(
            sa.Column(name, sa.String(), nullable=False)
            for name in ("role", "code_hash", "made_by")
        ),
        sa.Column("made_at", _AT, nullable=False),
        sa.Column("used_at", _AT),
        sa.UniqueConstraint("code_hash", name="uq_invitation_code_hash"),
    )
    op.create_index("ix_invitation_project_id", "invitation", ["project_id"])
    _of_project(
        "api_token",
        _of_user(),
        *(
            sa.Column(name, sa.String(), nullable=False)
            for name in ("label", "scopes", "token_hash")
        ),
        *(sa.Column(name, _AT, nullable=False) for name in ("made_at", "expires_at")),
        *(sa.Column(name, _AT) for name in ("used_at", "revoked_at")),
        sa.ForeignKeyConstraint(["user_id"], ["account.id"], name="fk_api_token_user_id_account"),
        sa.UniqueConstraint("token_hash", name="uq_api_token_token_hash"),
        nullable=True,
    )
    op.create_index("ix_api_token_user_id", "api_token", ["user_id"])
    _of_project("project_job", sa.Column("begun_at", _AT, nullable=False))
    op.create_index("ix_project_job_project_id", "project_job", ["project_id"])


def downgrade() -> None:
    """Take them away: the runs of projects are everybody's then."""
    found = sa.inspect(op.get_bind()).get_foreign_keys("run")
    if any(one["name"] == _KEY for one in found):
        with op.batch_alter_table("run") as run:
            run.drop_constraint(_KEY, type_="foreignkey")
            run.drop_column("project_id")
    else:  # SQLite tells no name of a key within a column, and drops it with the column.
        op.drop_column("run", "project_id")
    for name in _TABLES:
        op.drop_table(name)


def _of_user() -> sa.Column[int]:
    return sa.Column("user_id", sa.Integer(), nullable=False)


def _of_project(name: str, *parts: sa.schema.SchemaItem, nullable: bool = False) -> None:
    op.create_table(
        name,
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=nullable),
        *parts,
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name=f"fk_{name}_project_id_project"
        ),
        sa.PrimaryKeyConstraint("id", name=f"pk_{name}"),
    )
