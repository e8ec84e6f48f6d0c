"""A run keeps its study's files; participants have no number, their places give them one."""

import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_RUNS = sa.text("SELECT id, study_folder, study_version FROM run ORDER BY id")


def upgrade() -> None:
    """Add the files, read from the folders that are still there; drop the numbers.

    Places refer to their participants everywhere.
    """
    study_file = op.create_table(
        "study_file",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_study_file_run_id_run"),
        sa.PrimaryKeyConstraint("id", name="pk_study_file"),
        sa.UniqueConstraint("run_id", "name", name="uq_study_file_run_id_name"),
    )
    rows = [row for run in op.get_bind().execute(_RUNS).all() for row in _files(*run)]
    if rows:
        op.bulk_insert(study_file, rows)
    _refer_from_place_to_participant()
    with op.batch_alter_table("participant") as participant:
        participant.drop_constraint("uq_participant_run_id_number", type_="unique")
        participant.drop_column("number")


def downgrade() -> None:
    """Number the participants in the order in which they came; drop the files."""
    with op.batch_alter_table("participant") as participant:
        participant.add_column(sa.Column("number", sa.Integer()))
    op.execute(
        "UPDATE participant SET number = (SELECT count(*) FROM participant AS earlier"
        " WHERE earlier.run_id = participant.run_id AND earlier.id <= participant.id)"
    )
    with op.batch_alter_table("participant") as participant:
        participant.alter_column("number", existing_type=sa.Integer(), nullable=False)
        participant.create_unique_constraint("uq_participant_run_id_number", ["run_id", "number"])
    op.drop_table("study_file")


def _refer_from_place_to_participant() -> None:
    # SQLite's databases from before there were migrations lack this one.
    name = "fk_place_participant_id_participant"
    if all(key["name"] != name for key in sa.inspect(op.get_bind()).get_foreign_keys("place")):
        with op.batch_alter_table("place") as place:
            place.create_foreign_key(name, "participant", ["participant_id"], ["id"])


def _files(run_id: int, study_folder: str, version: str) -> Iterator[dict[str, object]]:
    folder = Path(study_folder)
    # What cannot be read stays out: the run's data are sound without it, and whoever needs the
    # study is told what is missing.
    with suppress(OSError, ValueError, KeyError):
        study = tomllib.loads((folder / "study.toml").read_text(encoding="utf-8"))
        if study["study"]["version"] != version:
            return
        materials = study["materials"]
        named = {
            *("study.toml", "published.csv", study.get("trial", {}).get("practice", "")),
            *(materials.get("grammar", ""), materials.get("items", "")),
            *(path.relative_to(folder).as_posix() for path in (folder / "texts").rglob("*.md")),
        }
        for name in sorted(named):
            if name and (folder / name).is_file():
                yield {"run_id": run_id, "name": name, "content": (folder / name).read_bytes()}
