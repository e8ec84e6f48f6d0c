"""The Alembic environment, on the connection that ``webapp.database.schema`` passes to it."""

from alembic import context

from webapp.database.models import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    # SQLite cannot alter a table in place, so the table is copied and replaced.
    render_as_batch=True,
)
context.run_migrations()
