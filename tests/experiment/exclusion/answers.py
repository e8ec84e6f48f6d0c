"""Sessions to be judged, put together by hand."""

from collections.abc import Mapping, Sequence

from experiment.exclusion.base import Answered
from experiment.exclusion.rules import verdict
from experiment.records import Judgment, Kind, Side, Verdict
from experiment.studies.study import Rule


def session(
    right: Sequence[bool] = (True,) * 10,
    *,
    times: Sequence[float | None] = (),
    sides: str = "",
    questionnaire: Mapping[str, str] | None = None,
    n_trials: int | None = None,
    construction: str = "simple",
    condition: str = "one",
    kind: Kind = Kind.TARGET,
    own: Mapping[str, str] | None = None,
) -> Answered:
    """A session of as many trials as answers, times or sides ("f" or "s") are given."""
    n = len(sides or times or right)
    judgments = tuple(
        Judgment(
            position=place + 1,
            item_id=f"{construction}-{place}",
            kind=kind,
            construction=construction,
            chose_good=right[place] if place < len(right) else True,
            chosen_side=Side.SECOND if sides[place : place + 1] == "s" else Side.FIRST,
            rt_ms=times[place] if times else None,
            condition=condition,
            extra=tuple((own or {}).items()),
        )
        for place in range(n)
    )
    return Answered(judgments, questionnaire, n_trials)


def ratings(given: Sequence[tuple[int, str]]) -> Answered:
    """A session of trials that were rated: each point with the version that got it."""
    return Answered(
        tuple(
            Judgment(
                position=place + 1,
                item_id=f"simple-{place}",
                kind=Kind.TARGET,
                construction="simple",
                chose_good=None,
                chosen_side=None,
                rt_ms=1000.0,
                rating=rating,
                version=version,
                answer=f"point {rating} of the scale",
            )
            for place, (rating, version) in enumerate(given)
        )
    )


def errors(n: int, of: int = 10) -> tuple[bool, ...]:
    """Answers of which the first are wrong."""
    return tuple(place >= n for place in range(of))


def judged(answered: Sequence[Judgment], rule: str, **parameters: object) -> Verdict:
    """The verdict of one rule."""
    return verdict([Rule.model_validate({"rule": rule, **parameters})], answered)
