"""People of a run, put into its database by hand."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session

from webapp.database.models import ArrivalAddress, Participant, Place, Response, Run, Trial

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)


def ago(**by: float) -> datetime:
    """Return a moment before now."""
    return NOW - timedelta(**by)


class People:
    """Adds rows of people to a run; nothing is committed."""

    def __init__(self, session: Session, run: Run) -> None:
        self.session, self.run, self.n = session, run, 0

    def add(self, row):
        self.session.add(row)
        self.session.flush()
        return row

    def person(self, state: str = "working", **fields: object) -> Participant:
        """Somebody who consented a quarter of an hour ago."""
        self.n += 1
        given = {"run_id": self.run.id, "arrived_at": ago(minutes=15), **fields}
        given.setdefault("consented_at", given["arrived_at"])
        return self.add(
            Participant(ref=f"by-hand{self.n}", code=f"hand{self.n}", state=state, **given)
        )

    def came(self, person: Participant, digest: str, at: datetime) -> ArrivalAddress:
        return self.add(ArrivalAddress(participant_id=person.id, digest=digest, at=at))

    def trials(self, person: Participant, n: int, item: int = 1, **fields: object) -> list[Trial]:
        made = {"good_side": "first", **fields}
        return [
            self.add(Trial(participant_id=person.id, position=place + 1, run_item_id=item, **made))
            for place in range(n)
        ]

    def answers(
        self, trials: Sequence[Trial], at: datetime = NOW, side: str = "first"
    ) -> list[Response]:
        return [
            self.add(
                Response(
                    trial_id=trial.id, client_uuid=f"uuid{trial.id}", chosen_side=side,
                    input_method="key", recorded_at=at,
                )
            )
            for trial in trials
        ]  # fmt: skip

    def holds(self, person: Participant, place: Place) -> None:
        place.participant_id = person.id
        self.session.flush()
