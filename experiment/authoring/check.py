"""All checks before a launch, run together so that every mistake is reported at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiment.authoring import (
    key_checks,
    material_checks,
    question_checks,
    rule_checks,
    session_checks,
    text_checks,
)
from experiment.authoring.examined import Examined, StudyCheck
from experiment.authoring.lint.lint import lint
from experiment.design.lists import BuiltLists
from experiment.errors import ParallaxError, StudyError, StudyNote
from experiment.studies.load import StudyErrors, load_study
from experiment.studies.study import Study

KEY_CHECKS: tuple[StudyCheck, ...] = (
    key_checks.about,
    key_checks.renderings,
    key_checks.headers,
    key_checks.response,
    key_checks.practice,
    session_checks.answers,
    session_checks.deadlines,
    session_checks.font,
    session_checks.pauses,
    question_checks.questionnaire,
    question_checks.wording,
    question_checks.admission,
    key_checks.simulation,
    key_checks.reaction_times,
    key_checks.rules,
    key_checks.constructions,
    session_checks.size,
    session_checks.places,
    key_checks.recruitment,
    key_checks.patterns,
    key_checks.marks,
    key_checks.files,
    key_checks.texts,
)
# The order matters: each check uses the results of the previous ones, and none repeats a report.
MATERIAL_CHECKS: tuple[StudyCheck, ...] = (
    material_checks.items,
    text_checks.texts,
    material_checks.pictures,
    material_checks.humanness,
    material_checks.constructions,
    key_checks.named,
    material_checks.comparisons,
    material_checks.readable,
    session_checks.widths,
    material_checks.lists,
    material_checks.templates,
    lint,
    material_checks.showing,
    rule_checks.rules,
    rule_checks.blind_channels,
    material_checks.published,
    material_checks.size,
)


@dataclass(frozen=True, slots=True)
class Report:
    """The results of a study's checks.

    Attributes:
        study: The study; None if study.toml could not be read.
        built: The study's lists; None if they could not be built or fail a check.
        errors: Mistakes that prevent a launch.
        notes: Remarks for the author that do not prevent a launch.
    """

    study: Study | None
    built: BuiltLists | None
    errors: tuple[ParallaxError, ...]
    notes: tuple[ParallaxError, ...] = ()


def check_folder(name_or_folder: str, seed: int) -> Report:
    """Check a built-in study or a study folder as a launch would, and report every mistake.

    Args:
        name_or_folder: The study.
        seed: The seed for building the study's lists.
    """
    try:
        study = load_study(name_or_folder)
    except StudyErrors as error:
        return Report(None, None, error.all)
    except ParallaxError as error:
        return Report(None, None, (error,))
    return check_study(study, seed)


def check_study(study: Study, seed: int) -> Report:
    """Check a study that was loaded; see ``check_folder``."""
    examined = Examined(study, seed)
    faults = list(_answers(examined, KEY_CHECKS))
    if not any(_hides_items(error) for error in faults):
        faults += _answers(examined, MATERIAL_CHECKS)
    unique = {str(error): error for error in faults}.values()
    errors = tuple(error for error in unique if not isinstance(error, StudyNote))
    notes = tuple(error for error in unique if isinstance(error, StudyNote))
    return Report(study, None if errors else examined.built, errors, notes)


def require_sound(study: Study, seed: int) -> BuiltLists:
    """Return the lists of a study without mistakes.

    Raises:
        ParallaxError: The first mistake; its message gives the number of further ones.
    """
    report = check_study(study, seed)
    if report.errors:
        raise first_of(report.errors, study.folder)
    assert report.built is not None
    return report.built


def first_of(errors: Sequence[ParallaxError], folder: Path) -> ParallaxError:
    """Return the first of several errors, with a remark about the number of others."""
    first = errors[0]
    if len(errors) == 1:
        return first
    more = f"`parallax study check {folder}` names this and {len(errors) - 1} more"
    remedy = f"{first.remedy.rstrip('.')}. {more}" if first.remedy else more
    return type(first)(first.problem, where=first.where, expected=first.expected, remedy=remedy)


def _answers(examined: Examined, checks: Sequence[StudyCheck]) -> Iterator[ParallaxError]:
    for check in checks:
        try:
            yield from check(examined)
        except ParallaxError as error:
            yield error
        except OSError as error:
            yield StudyError(
                f"a file cannot be read ({error.strerror})",
                where=str(error.filename or examined.study.folder),
                expected="a file that you may read",
            )


def _hides_items(error: ParallaxError) -> bool:
    """Return whether an error already explains why the lists cannot be built."""
    keys = ("materials.grammar", "materials.items", "design.participants_per_list")
    return not isinstance(error, StudyNote) and any(key in error.where for key in keys)
