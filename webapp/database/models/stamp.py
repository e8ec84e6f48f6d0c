"""What the database says of itself, to be compared with what lies beside it."""

from sqlalchemy.orm import Mapped, mapped_column

from webapp.database.models.base import Base


class Stamp(Base):
    """A short text under a name; the gate compares it with the instance folder's."""

    __tablename__ = "stamp"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    value: Mapped[str]
