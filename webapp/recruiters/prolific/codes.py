"""Completion codes: which ending has a code, who enters it, and its effect.

The researcher is the ``actor`` of every code: our server completes a submission once its answers
are stored, and no browser ever sees a code. Endings without a code free their place: the
participant returns the submission, or the submission runs out of time.
"""

import hashlib
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from experiment.money import in_words
from experiment.participation import Ending
from experiment.studies.study import Study
from webapp.errors import RunError
from webapp.recruiters.endings import Departure
from webapp.recruiters.platform import PlatformError, Task
from webapp.recruiters.prolific.api import SCREEN_OUT, ApiClient, NotFoundError, StudyAnswer

# The platform's code type for each submitted ending. Withdrawal has two codes of one type if a
# share of the reward may be paid: one pays the share, the other leaves the decision to a
# researcher.
CODE_TYPES = {
    Ending.COMPLETED: "COMPLETED",
    Ending.FAILED_CHECK: "FAILED_ATTENTION_CHECK",
    # A participant who withdraws is paid as the consent text states: a researcher decides, or
    # withdrawn_percent applies if the participant stayed long enough.
    Ending.WITHDRAWN: "OTHER",
    Ending.SCREENED_OUT: "FIXED_SCREENOUT",
}
_REVIEW: dict[str, object] = {"action": "MANUALLY_REVIEW"}
_PARTIAL_PAY: dict[str, object] = {"action": "DYNAMIC_PAYMENT"}
_CODE_CHARS = 12


def make_completion_codes(task: Task, token: str) -> list[dict[str, Any]]:
    """Return the completion codes of a new study.

    Args:
        task: The task, which states whether screened-out participants are paid.
        token: The offer's token; each offer has its own codes.
    """
    codes = [
        _make_code(ending, token, _REVIEW, *_make_joining_action(task, ending))
        for ending in CODE_TYPES
        if ending is not Ending.SCREENED_OUT
    ]
    if task.withdrawn_percent is not None:
        codes.append(_make_code(Ending.WITHDRAWN, f"{token} in part", _PARTIAL_PAY))
    if task.screen_out_minor and task.screen_out_places:
        action: dict[str, object] = {
            "action": SCREEN_OUT,
            "fixed_screen_out_reward": task.screen_out_minor,
            "slots": task.screen_out_places,
        }
        codes.append(_make_code(Ending.SCREENED_OUT, token, action))
    return codes


def compute_share(departure: Departure) -> int | None:
    """Return the per cent of the reward that a withdrawn participant is paid immediately.

    A share requires at least the same share of the study's duration: no participant earns more per
    minute than the participants who finish.

    Returns:
        None if a researcher decides.
    """
    terms = departure.study.recruitment
    percent = terms.withdrawn_percent if terms is not None else None
    if terms is None or percent is None or departure.ending is not Ending.WITHDRAWN:
        return None
    needed = timedelta(minutes=terms.median_minutes) * percent / 100
    return percent if departure.stayed >= needed else None


def _make_joining_action(task: Task, ending: Ending) -> Iterator[dict[str, object]]:
    """Yield the action that adds finishing participants to the study's group, if it has one."""
    if task.group and ending is Ending.COMPLETED:
        yield {"action": "ADD_TO_PARTICIPANT_GROUP", "participant_group": task.group}


def refuse_unknown_group(calls: ApiClient, task: Task) -> None:
    """Check that the task's participant group exists; without it no submission could be completed.

    Raises:
        PlatformError: There is no such group, or the platform cannot be asked.
    """
    if not task.group:
        return
    try:
        calls.get(f"/participant-groups/{task.group}/")
    except NotFoundError as error:
        raise PlatformError(
            f"there is no participant group {task.group}",
            where="study.toml, recruitment.group",
            expected="the id of a participant group of your workspace",
            remedy="Make the group on Prolific's pages and copy its id from the page's address",
        ) from error


def refuse_uneven_share(study: Study) -> None:
    """Check that the share of the reward for withdrawing is a whole number of minor units.

    Raises:
        RunError: It is not, and the platform does not document how it rounds.
    """
    percent = study.recruitment.withdrawn_percent if study.recruitment else None
    if percent and study.reward_minor * percent % 100:
        raise RunError(
            f"{percent} % of {in_words(study.reward_minor, study.currency)} cannot be paid exactly",
            where=f"{study.name}/study.toml, recruitment, withdrawn_percent",
            expected="a share that is a whole number of minor units",
            remedy="Choose another share, such as 50, or another reward",
        )


def _make_code(ending: Ending, token: str, *actions: dict[str, object]) -> dict[str, Any]:
    drawn = hashlib.sha256(f"{token}\x1f{ending}".encode()).hexdigest()
    return {
        "code": drawn[:_CODE_CHARS].upper(),
        "code_type": CODE_TYPES[ending],
        "actions": list(actions),
        "actor": "researcher",
    }


def find_code(study: StudyAnswer, ending: Ending, *, in_part: bool = False) -> str:
    """Return the code with which our server completes a submission of that ending.

    Args:
        study: The study, as the platform has it.
        ending: How the visit ended.
        in_part: Whether the code pays a share of the reward.

    Raises:
        PlatformError: The study has no such code, so it was changed on the platform.
    """
    for code in study.completion_codes:
        pays_in_part = any(act.get("action") == _PARTIAL_PAY["action"] for act in code.actions)
        is_our_code = code.code_type == CODE_TYPES[ending] and code.actor == "researcher"
        if is_our_code and code.code and pays_in_part is in_part:
            return code.code
    raise PlatformError(
        f"the study on Prolific has lost its completion code {CODE_TYPES[ending]}, which the "
        "researcher uses",
        where=f"study {study.id}",
        remedy="It was changed on the platform: complete the submission there by hand",
    )


def screen_out_slots(study: StudyAnswer) -> int | None:
    """Return how many screen-outs may be paid; None if screen-outs are not paid."""
    for code in study.completion_codes:
        for action in code.actions:
            if action.get("action") == SCREEN_OUT:
                return int(action["slots"])
    return None


def set_slots(study: StudyAnswer, slots: int) -> list[dict[str, Any]]:
    """Return a study's codes with another number of paid screen-outs."""
    codes = [code.model_dump() for code in study.completion_codes]
    for code in codes:
        for action in code["actions"]:
            if action.get("action") == SCREEN_OUT:
                action["slots"] = slots
    return codes
