"""What Alembic runs to migrate, on the connection that ``webapp.database.schema`` gives it."""

from alembic import context

from webapp.database.models import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    # SQLite cannot change a table in place: there it is copied and replaced.
    render_as_batch=True,
)
context.run_migrations()
