"""The panels' records: studies, the participants sent to them, their ids and their outcomes."""

import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from marketplace.errors import MarketplaceError

# An access code that the researcher made and the panel hands out.
CODE = "code"
ID_KINDS = ("person", "profile", "long", "upper", "number", "study", "visit", CODE)


@dataclass(slots=True)
class Person:
    """A participant sent by a panel.

    Attributes:
        name: The name used by the stand-in.
        id: The id used by the panel.
        visits: How often the participant was sent.
        outcomes: The different outcomes with which the participant came back, in order.
        granted: How often the participant was paid or credited: 0 or 1.
        asked: How often payment or credit was requested.
    """

    name: str
    id: str
    visits: int = 0
    outcomes: list[str] = field(default_factory=list)
    granted: int = 0
    asked: int = 0


@dataclass(slots=True)
class Study:
    """A study listed by a panel.

    Attributes:
        key: The study's name in addresses.
        link: The study link, as the researcher entered it.
        person: The kind of id by which the panel identifies a person.
        added: Query argument that the panel adds to the link -> kind of id.
        replaced: Text that the panel replaces in the link -> kind of id.
        codes: Completion code -> outcome.
        credit_token: The token that authorises a request for credit.
        access_codes: Access codes for a classroom.
        people: The participants sent, by name.
        used_codes: Individual completion codes -> name of the person who entered the code.
    """

    key: str
    link: str
    person: str
    added: Mapping[str, str]
    replaced: Mapping[str, str]
    codes: Mapping[str, str]
    credit_token: str
    access_codes: list[str]
    people: dict[str, Person] = field(default_factory=dict)
    used_codes: dict[str, str] = field(default_factory=dict)


class Records:
    """All panels' studies and participants, for one process."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._studies: dict[str, Study] = {}

    def list_study(self, study: Study) -> None:
        """List a study, or update a listed one.

        Raises:
            MarketplaceError: The study uses an unknown kind of id.
        """
        id_kinds = {study.person, *study.added.values(), *study.replaced.values()}
        if unknown := sorted(id_kinds - {*ID_KINDS}):
            raise MarketplaceError(
                f'there is no kind of id "{unknown[0]}"', expected=f"one of {', '.join(ID_KINDS)}"
            )
        with self._lock:
            if study.key in self._studies:
                earlier = self._studies[study.key]
                study.people, study.used_codes = earlier.people, earlier.used_codes
            self._studies[study.key] = study

    def send_person(self, key: str, name: str) -> str:
        """Return the study link for a person's first or next visit."""
        with self._lock:
            study = self.study(key)
            person = study.people.get(name)
            visit = person.visits + 1 if person else 1
            ids = derive_ids(key, name, visit)
            if person is None:
                if study.person == CODE:
                    if not study.access_codes:
                        raise MarketplaceError("every access code was handed out")
                    ids[CODE] = study.access_codes.pop(0)
                person = study.people[name] = Person(name, ids[study.person])
            elif study.person == CODE:
                ids[CODE] = person.id
            person.visits = visit
            return fill_link(study.link, ids, study.added, study.replaced)

    def record_return(self, key: str, name: str, outcome: str) -> None:
        """Record how a person came back; the panel counts only the first outcome."""
        with self._lock:
            person = self.study(key).people.get(name)
            if person is None:
                raise MarketplaceError(f'nobody called "{name}" was sent')
            person.asked += outcome == "completed"
            if not person.outcomes:
                person.outcomes.append(outcome)
                person.granted += outcome == "completed"
            elif outcome not in person.outcomes:
                person.outcomes.append(outcome)

    def enter_code(self, key: str, name: str, code: str) -> str:
        """Accept a completion code, and return its outcome; empty if the code is invalid."""
        with self._lock:
            study = self.study(key)
            outcome = study.codes.get(code, "")
            if not study.codes and code:
                # Without listed codes, any text is accepted once: each person has another.
                outcome = "completed" if study.used_codes.setdefault(code, name) == name else ""
            if outcome:
                self.record_return(key, name, outcome)
            return outcome

    def find_person(self, key: str, id_: str) -> Person | None:
        """Return the person with a panel's id, or None."""
        with self._lock:
            return next(
                (person for person in self.study(key).people.values() if person.id == id_), None
            )

    def study(self, key: str) -> Study:
        """Return a listed study.

        Raises:
            MarketplaceError: No study is listed under that key.
        """
        with self._lock:
            if key not in self._studies:
                raise MarketplaceError(f'no study is listed as "{key}"')
            return self._studies[key]

    def list_people(self, key: str) -> list[dict[str, object]]:
        """Return the records of all of a study's participants."""
        with self._lock:
            return [
                {
                    "name": person.name, "id": person.id, "visits": person.visits,
                    "outcomes": list(person.outcomes), "granted": person.granted,
                    "asked": person.asked,
                }
                for person in self.study(key).people.values()
            ]  # fmt: skip


def derive_ids(study: str, person: str, visit: int) -> dict[str, str]:
    """Return the ids of a person, their study and their visit, the same ids at each call."""
    of_person = hashlib.sha256(f"{study} {person}".encode()).hexdigest()
    return {
        "person": of_person[:24],
        "profile": of_person[24:48],
        "long": of_person[:32],
        "upper": of_person[:32].upper(),
        "number": str(int(of_person[:12], 16)),
        "study": hashlib.sha256(study.encode()).hexdigest()[:24],
        "visit": hashlib.sha256(f"{study} {person} {visit}".encode()).hexdigest()[:24],
    }


def fill_link(
    link: str, ids: Mapping[str, str], added: Mapping[str, str], replaced: Mapping[str, str]
) -> str:
    """Return the study link with a person's ids filled in.

    Args:
        link: The study link, as the researcher entered it.
        ids: Kind of id -> the id.
        added: Argument that the panel adds -> kind of id.
        replaced: Text in the link that the panel replaces -> kind of id.
    """
    for placeholder, kind in replaced.items():
        link = link.replace(placeholder, ids[kind])
    if not added:
        return link
    arguments = urlencode({name: ids[kind] for name, kind in added.items()})
    return f"{link}{'&' if '?' in link else '?'}{arguments}"
