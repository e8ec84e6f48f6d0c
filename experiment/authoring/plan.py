"""A study's plan as comparable values, with one hash over all of them."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiment.authoring.check import SoundStudy
from experiment.comparisons.planned import planned_comparisons
from experiment.errors import StudyError, why_unread
from experiment.records import Item
from experiment.studies.files import study_files
from experiment.studies.study import PLAN_FILE, STUDY_FILE, Study

PLAN_TEXT = "plan.md"
# The declared comparisons; plans that were frozen before comparisons existed lack them.
QUESTIONS = "questions"
# The rule that stops the study, if it has one.
STOPPING = "stopping"


_FORMAT_VERSION = 1
_LONGEST_VALUE = 40


Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """A study's frozen plan.

    Attributes:
        values: The planned values, by name.
        sha256: The hash of the values, for public registration.
        frozen_on: The day of the freeze.
        amendments: Later changes, each with its day, its reason and the previous hash.
    """

    values: Values
    sha256: str
    frozen_on: str
    amendments: tuple[Values, ...] = ()


def build_plan_values(sound: SoundStudy) -> dict[str, Any]:
    """Return a study's plan: materials, lists, seed, rules, comparisons and sample size.

    The plan excludes information for archives and reviewers, simulated participants and platform
    terms.
    """
    study, built = sound.study, sound.built
    design, contents = study.design, study_files(study)
    texts = {
        name: hashlib.sha256(content).hexdigest()
        for name, content in sorted(contents.items())
        if name not in (STUDY_FILE, PLAN_FILE)
    }
    values = {
        "study": study.name,
        "study_version": study.study.version,
        "seed": built.seed,
        "materials_hash": built.materials_hash,
        "lists_hash": hash_lists(
            (number, entry.item.item_id, str(entry.kind))
            for number, entries in enumerate(built.lists)
            for entry in entries
        ),
        "n_lists": design.n_lists,
        "n_participants": sum(design.places(number) for number in range(design.n_lists)),
        "response": study.response,
        "trial": study.trial.model_dump(mode="json"),
        "screening": [question.model_dump(mode="json") for question in study.screening],
        "comprehension": study.comprehension.model_dump(mode="json")
        if study.comprehension
        else None,
        "attention": study.attention.model_dump(mode="json") if study.attention else None,
        "questionnaire": [question.model_dump(mode="json") for question in study.questionnaire],
        "exclusion": [rule.model_dump(mode="json") for rule in study.exclusion],
        # Labels change the report's words alone, and may be written after the data are seen.
        "comparisons": study.analysis.model_dump(mode="json", exclude={"labels"}),
        QUESTIONS: [
            comparison.written_out
            for comparison in planned_comparisons(study, _ordered_items(sound))
        ],
        "files": texts,
    }
    # Plans of studies without a rule are the same as before there were rules.
    return values | ({STOPPING: rule.model_dump(mode="json")} if (rule := study.stopping) else {})


def _ordered_items(sound: SoundStudy) -> Sequence[Item]:
    """Return the items whose order defines the order of factors and levels."""
    if sound.study.materials.items or sound.study.analysis.factors:
        return sound.items
    return [entry.item for entries in sound.built.lists for entry in entries]


def build_present_values(plan: Plan, sound: SoundStudy) -> dict[str, Any]:
    """Return a study's present plan, with the values that a frozen plan's version knew."""
    values = build_plan_values(sound)
    if QUESTIONS not in plan.values:
        del values[QUESTIONS]
    return values


def hash_lists(rows: Iterable[tuple[int, str, str]]) -> str:
    """Return the SHA-256 of lists, independent of the order of their rows."""
    text = "".join(f"{number}\x1f{item}\x1f{kind}\n" for number, item, kind in sorted(rows))
    return hashlib.sha256(text.encode()).hexdigest()


def hash_values(values: Values) -> str:
    """Return the SHA-256 of a plan's values."""
    text = json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def freeze_plan(values: Values, day: str) -> Plan:
    """Return a plan frozen on a day."""
    return Plan(values, hash_values(values), day)


def amend_plan(plan: Plan, values: Values, day: str, reason: str) -> Plan:
    """Return a plan with new values that records the previous hash, the changes and the reason."""
    amendment = {
        "on": day,
        "reason": reason,
        "sha256_before": plan.sha256,
        "changes": {name: list(pair) for name, pair in find_changes(plan.values, values).items()},
    }
    return Plan(values, hash_values(values), plan.frozen_on, (*plan.amendments, amendment))


def find_changes(earlier: Values, later: Values) -> dict[str, tuple[object, object]]:
    """Return each changed value, as a pair of before and after."""
    names = dict.fromkeys((*earlier, *later))
    pairs = {name: (earlier.get(name), later.get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def to_json(plan: Plan) -> str:
    """Return the content of a plan's file."""
    content = {
        "version": _FORMAT_VERSION,
        "sha256": plan.sha256,
        "frozen_on": plan.frozen_on,
        "amendments": list(plan.amendments),
        "planned": plan.values,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def read_plan(study: Study) -> Plan | None:
    """Return the plan in a study's folder; None if no plan was frozen.

    Raises:
        StudyError: The file is not a plan, has a newer version, or was edited by hand.
    """
    location = str(study.folder / PLAN_FILE)
    try:
        content = json.loads(study.read(PLAN_FILE))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise StudyError(f"the file is not a plan ({why_unread(error)})", where=location) from error
    try:
        if content["version"] > _FORMAT_VERSION:
            raise StudyError(
                f"the plan has the version {content['version']}",
                where=location,
                expected=f"at most {_FORMAT_VERSION}, the newest that this Parallax knows",
                remedy="Use the version of Parallax that froze the plan, or a newer one",
            )
        plan = Plan(
            content["planned"], content["sha256"], content["frozen_on"],
            tuple(content["amendments"]),
        )  # fmt: skip
        intact = hash_values(plan.values) == plan.sha256
    except (KeyError, TypeError) as error:
        raise StudyError(
            "the file is JSON, but not a whole plan",
            where=location,
            expected="the file that `parallax study freeze` wrote",
        ) from error
    if not intact:
        raise StudyError(
            "the plan was changed by hand: its hash does not match its values",
            where=location,
            expected=f"values with the SHA-256 {plan.sha256[:12]}...",
            remedy=(
                'Restore the file; to change the plan, run `parallax study freeze --amend "WHY"`'
            ),
        )
    return plan


def refuse_silent_change(sound: SoundStudy) -> None:
    """Raise a StudyError if a study differs from its frozen plan."""
    study = sound.study
    plan = read_plan(study)
    if plan is None:
        return
    differing = find_changes(plan.values, build_present_values(plan, sound))
    if differing:
        raise StudyError(
            f"the study was changed after its plan was frozen on {plan.frozen_on}: "
            f"{'; '.join(describe_change(name, *pair) for name, pair in differing.items())}",
            where=str(study.folder / PLAN_FILE),
            expected="the study as it was planned",
            remedy="Undo the change, or record it: `parallax study freeze STUDY --seed SEED "
            '--amend "WHY"` keeps the earlier plan and your reason',
        )


def describe_change(name: str, earlier: object, later: object) -> str:
    """Return a change in words, with its values, each short enough for a message."""
    if isinstance(earlier, Mapping) and isinstance(later, Mapping):
        inner_changes = find_changes(earlier, later)
        return "; ".join(
            describe_change(f"{name}.{inner}", *pair) for inner, pair in inner_changes.items()
        )
    if isinstance(earlier, list) and isinstance(later, list):
        removed = [entry for entry in earlier if entry not in later]
        added = [entry for entry in later if entry not in earlier]
        steps = [
            f"{verb} {', '.join(map(shorten_value, entries))}"
            for verb, entries in (("removed", removed), ("added", added))
            if entries
        ]
        return f"{name}: {' and '.join(steps) or 'in another order'}"
    return f"{name} was {shorten_value(earlier)}, is {shorten_value(later)}"


def shorten_value(value: object) -> str:
    """Return a planned value as a text of at most 40 characters."""
    if value is None:
        return "not set"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}\u2026"
