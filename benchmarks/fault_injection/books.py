"""A platform's own books beside what people earned, a colleague's payments apart, and what we say.

Each platform of ``faults_restored.py`` is a ``Side``: how its runs are worked, what its books hold,
how a colleague pays there by hand.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from fault_injection.environment import Environment
from fault_injection.operator import Operator
from webapp.payments.spending import RunSpending


class Person(Protocol):
    """Somebody who worked on a platform.

    Attributes:
        finished: Whether they answered everything.
    """

    finished: bool

    @property
    def key(self) -> str:
        """What the platform's books call them, or their work."""


@dataclass(frozen=True, slots=True)
class Booked:
    """One payment in a platform's books, in minor units.

    Attributes:
        who: Whose.
        amount_minor: What they got.
        fee_minor: What the platform took for it.
        by_hand: What finds it, if a colleague paid it.
    """

    who: str
    amount_minor: int
    fee_minor: int
    by_hand: str | None


@dataclass(frozen=True)
class Side:
    """What a platform is to the campaign.

    Attributes:
        recruiter: Its name.
        opened: Opens an environment and its platform.
        operator: Who runs a study there.
        faults: The faults of a share of calls, by a seed.
        work: Sends people until the run is full.
        hand_in_later: What happens after the first payments: offers are taken up.
        offered: How many places of a run the platform offers in all.
        books: What the platform booked for the run's people.
        pay_by_hand: Pays an amount by hand, and returns what finds it in the books.
    """

    recruiter: str
    opened: Callable[[Path], AbstractContextManager[tuple[Any, Any]]]
    operator: type[Operator]
    faults: Callable[[float, int], dict[str, object]]
    work: Callable[..., Sequence[Any]]
    hand_in_later: Callable[[Sequence[Any], set[str]], None]
    offered: Callable[[Any, str], int]
    books: Callable[[Any, Operator, Sequence[Any], set[str]], list[Booked]]
    pay_by_hand: Callable[[Any, Operator, Any, int, int], str | None]


@dataclass
class Colleague:
    """Somebody who pays by hand on the platform's own pages, without telling anybody.

    Attributes:
        paid: What finds their payments in the books.
    """

    side: Side
    environment: Environment
    operator: Operator
    rng: random.Random
    amounts: Sequence[int]
    people: Sequence[Any] = ()
    paid: set[str] = field(default_factory=set)

    def pay(self) -> str | None:
        """Pay a bonus to somebody who finished, and return what finds it in the books."""
        finished = [person for person in self.people if person.finished]
        if not finished:
            return None
        who, amount_minor = self.rng.choice(finished), self.rng.choice(self.amounts)
        number = len(self.paid)
        made = self.side.pay_by_hand(self.environment, self.operator, who, amount_minor, number)
        if made:
            self.paid.add(made)
        return made


def judged(books: Sequence[Booked], people: Sequence[Person], due_minor: int) -> Counter[str]:
    """Compare what everybody earned with the books, our payments and the colleague's apart."""
    counts = Counter[str]()
    for person in people:
        mine = [each for each in books if each.who == person.key]
        owed = due_minor if person.finished else 0
        theirs = sorted(each.amount_minor for each in mine if each.by_hand)
        ours = sum(each.amount_minor for each in mine if not each.by_hand)
        instead = owed - ours
        counts["people who earned money"] += bool(owed)
        counts["paid by us, as earned"] += bool(owed) and not instead
        counts["paid by hand"] += len(theirs)
        counts["people we paid more"] += instead < 0
        # Less is right where what lacks was paid by hand in the same amounts.
        lacks, is_theirs = instead > 0, instead in sums(theirs)
        counts["paid by hand instead"] += lacks and is_theirs
        counts["people with less"] += lacks and not is_theirs
    return counts


def is_paid_beside(books: Sequence[Booked], key: str, seen: set[str], bonus_minor: int) -> bool:
    """Return whether somebody's bonus was sent although one of a colleague's could be seen."""
    mine = [each for each in books if each.who == key]
    theirs = [number for number, each in enumerate(mine) if each.by_hand in seen]
    ours = [
        number
        for number, each in enumerate(mine)
        if not each.by_hand and each.amount_minor == bonus_minor
    ]
    return bool(theirs and ours) and theirs[0] < ours[-1]


def sums(amounts: Sequence[int]) -> set[int]:
    """Return what any of these amounts make together."""
    found = {0}
    for amount in amounts:
        found |= {each + amount for each in found}
    return found


def differences(books: Sequence[Booked], stated: RunSpending) -> Mapping[tuple[int, int], int]:
    """Return each amount with its fee that statement and books do not hold equally often."""
    lines = Counter((line.amount_minor, line.fee_minor) for line in stated.lines() if line.is_spent)
    booked = Counter((each.amount_minor, each.fee_minor) for each in books)
    keys = lines.keys() | booked.keys()
    return {key: lines[key] - booked[key] for key in keys if lines[key] != booked[key]}
