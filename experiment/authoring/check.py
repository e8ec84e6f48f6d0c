"""All checks before a launch, run together so that every mistake is reported at once."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiment.authoring import (
    font_checks,
    key_checks,
    material_checks,
    question_checks,
    session_checks,
)
from experiment.authoring.consent import check_consent, check_generated_sentences
from experiment.authoring.examined import Examined, StudyCheck
from experiment.authoring.lint.lint import ItemPlaces, lint
from experiment.design.lists import BuiltLists
from experiment.errors import ParallaxError, StudyError, StudyNote
from experiment.materials.render import replace_pictures
from experiment.records import Item, Variant
from experiment.studies.load import StudyErrors, load_study
from experiment.studies.study import Study

_JOINERS = "\u200c\u200d"
_REPLACEMENT_CHARACTER = "\ufffd"
_SPREADSHEET_ERROR = re.compile(r"#(?:NAME\?|REF!|VALUE!|N/A|DIV/0!|NULL!|NUM!)")
_JUDGMENT_MARK = re.compile(r"(?:[*#%]|\?+\*?|OK(?=\s))\s*(?=\w)")
_MARKUP = re.compile(r"</?[a-zA-Z][^<>]*>|&(?:[a-z]+|#\d+);")
# A text without any of these characters has no marks, errors or mark-up.
_SUSPICIOUS = re.compile(r"[#<&*%?]|OK\s")
_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK")

# Returns the problem with an item's texts and the expected text; None if there is no problem.
_TextCheck = Callable[[list[str]], tuple[str, str] | None]


def check_texts(examined: Examined) -> Iterator[ParallaxError]:
    """Report, for each fault that a text can have, the first item that has it."""
    file = str(examined.study.materials_path)
    places = ItemPlaces(examined.study.materials_path)
    looked_at = [item for item in examined.items if not _is_plain(item)]
    for kind, fault in (*((StudyError, f) for f in _ERRORS), *((StudyNote, f) for f in _NOTES)):
        for item in looked_at:
            if problem_and_expected := fault(_list_texts(item)):
                problem, expected = problem_and_expected
                location = places.get(item.item_id, file)
                yield kind(
                    f'the item "{item.item_id}" {problem}', where=location, expected=expected
                )
                break
    if unnamed := next((item for item in examined.items if not item.item_id.strip()), None):
        yield StudyError(
            f'the item with the text "{unnamed.good}" has no item_id',
            where=file,
            expected="a different id for each item",
        )


def _is_plain(item: Item) -> bool:
    """Return whether an item's texts have no sign of any fault, as is true of most items."""
    texts = (item.context, item.good, item.bad, item.distractor)
    joined_texts = "".join(texts)
    return (
        joined_texts.isascii()
        and joined_texts.isprintable()
        and not _SUSPICIOUS.search(joined_texts)
        and not any(map(str.isspace, texts))
    )


def _list_texts(item: Item) -> list[str]:
    return [replace_pictures(item.context), *(item.version(str(name)) for name in Variant)]


def _check_blank(shown: list[str]) -> tuple[str, str] | None:
    if any(text and not text.strip() for text in shown):
        return "has a text that consists of white space", "a sentence"
    return None


def _check_lost_letters(shown: list[str]) -> tuple[str, str] | None:
    for word in " ".join(shown).split():
        if _REPLACEMENT_CHARACTER in word or _is_mojibake(word):
            expected = (
                'text in UTF-8: save the table again as "CSV UTF-8", or make it from the .xlsx'
            )
            return (
                f'holds "{word}": some letters were lost in a conversion between encodings',
                expected,
            )
    return None


def _is_mojibake(word: str) -> bool:
    """Return whether a word is UTF-8 that was decoded with another encoding."""
    if word.isascii():
        return False
    for encoding in ("cp1252", "latin-1"):
        try:
            repaired = word.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
        return not repaired.isascii()
    return False


def _check_invisible(shown: list[str]) -> tuple[str, str] | None:
    for mark in "".join(shown):
        if unicodedata.category(mark)[0] == "C" and mark not in _JOINERS:
            return f"holds the invisible character {mark!r}", "text without invisible characters"
    return None


def _check_spreadsheet_error(shown: list[str]) -> tuple[str, str] | None:
    match = _SPREADSHEET_ERROR.search(" ".join(shown))
    return (
        (f'holds "{match[0]}", an error of a spreadsheet formula', "a sentence") if match else None
    )


def _check_judgment_marks(shown: list[str]) -> tuple[str, str] | None:
    versions = [text for text in shown[1:] if text]
    marks = [_JUDGMENT_MARK.match(text) for text in versions]
    if len(versions) > 1 and any(marks) and not all(marks):
        text = next(t for t, mark in zip(versions, marks, strict=True) if mark)
        return (
            f'shows a judgment: "{text}"',
            "the sentence without the mark, which participants would see",
        )
    return None


def _check_markup(shown: list[str]) -> tuple[str, str] | None:
    if match := _MARKUP.search(" ".join(shown)):
        return f'holds "{match[0]}", which participants would see literally', "plain text"
    return None


def _check_mixed_scripts(shown: list[str]) -> tuple[str, str] | None:
    for word in " ".join(shown).split():
        if word.isascii():
            continue
        names = {unicodedata.name(c, "").split(" ")[0] for c in word if c.isalpha()}
        if len(mixed_scripts := sorted(names.intersection(_SCRIPTS))) > 1:
            scripts = " and ".join(name.capitalize() for name in mixed_scripts)
            return (
                f'mixes letters of different scripts that look alike, {scripts}, in "{word}"',
                "one script",
            )
    return None


_ERRORS: tuple[_TextCheck, ...] = (
    _check_blank,
    _check_lost_letters,
    _check_invisible,
    _check_spreadsheet_error,
    _check_judgment_marks,
)
_NOTES: tuple[_TextCheck, ...] = (_check_markup, _check_mixed_scripts)


KEY_CHECKS: tuple[StudyCheck, ...] = (
    key_checks.check_study_section,
    key_checks.check_renderings,
    key_checks.check_headers,
    key_checks.check_response_type,
    key_checks.check_practice,
    session_checks.check_answers,
    session_checks.check_deadlines,
    session_checks.check_double_clicks,
    font_checks.check_font,
    session_checks.check_pauses,
    question_checks.check_questionnaire,
    question_checks.check_wording,
    question_checks.check_admission,
    key_checks.check_simulation,
    key_checks.check_reaction_times,
    key_checks.check_rules,
    key_checks.check_constructions,
    session_checks.check_number_of_places,
    session_checks.check_task_titles,
    key_checks.check_recruitment,
    key_checks.check_patterns,
    key_checks.check_markdown,
    key_checks.check_files,
    key_checks.check_translated,
)
# The participants of a launched run have agreed to its consent, so that nobody may change it.
_CONSENT_CHECKS: tuple[StudyCheck, ...] = (check_consent, check_generated_sentences)
# The order matters: each check uses the results of the previous ones, and none repeats a report.
MATERIAL_CHECKS: tuple[StudyCheck, ...] = (
    material_checks.check_all_items,
    check_texts,
    material_checks.check_pictures,
    material_checks.check_humanness,
    material_checks.check_constructions,
    key_checks.check_analysis_names,
    material_checks.check_readable,
    material_checks.check_descriptions,
    session_checks.check_places,
    session_checks.check_keys_in_instructions,
    material_checks.check_comparisons,
    session_checks.check_widths,
    material_checks.check_lists,
    material_checks.check_stopping_rule,
    material_checks.check_templates,
    lint,
    material_checks.check_rendered_trials,
    question_checks.check_rules,
    question_checks.check_blind_runs,
    material_checks.check_published_results,
    material_checks.check_study_size,
)


@dataclass(frozen=True, slots=True)
class SoundStudy:
    """A study that passed every check, with what the checks read and built.

    Attributes:
        study: The study.
        items: The materials, in their order.
        built: The lists.
    """

    study: Study
    items: Sequence[Item]
    built: BuiltLists


@dataclass(frozen=True, slots=True)
class Report:
    """The results of a study's checks.

    Attributes:
        study: The study; None if study.toml could not be read.
        built: The study's lists; None if they could not be built or fail a check.
        errors: Mistakes that prevent a launch.
        notes: Remarks for the author that do not prevent a launch.
        items: The materials, in their order; empty if they could not be read.
    """

    study: Study | None
    built: BuiltLists | None
    errors: tuple[ParallaxError, ...]
    notes: tuple[ParallaxError, ...] = ()
    items: Sequence[Item] = ()


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


def check_study(study: Study, seed: int, *, launched: bool = False) -> Report:
    """Check a study that was loaded; see ``check_folder``.

    Args:
        study: The study.
        seed: The seed for building the study's lists.
        launched: Whether the study is of a run: its participants have agreed to its consent.
    """
    examined = Examined(study, seed)
    faults = list(
        _collect_findings(examined, KEY_CHECKS if launched else (*KEY_CHECKS, *_CONSENT_CHECKS))
    )
    if not any(_hides_items(error) for error in faults):
        faults += _collect_findings(examined, MATERIAL_CHECKS)
    unique = {str(error): error for error in faults}.values()
    errors = tuple(error for error in unique if not isinstance(error, StudyNote))
    notes = tuple(error for error in unique if isinstance(error, StudyNote))
    built = None if errors else examined.built
    return Report(study, built, errors, notes, examined.items)


def require_sound(study: Study, seed: int, *, launched: bool = False) -> SoundStudy:
    """Return a study without mistakes, with its lists; see ``check_study``.

    Raises:
        ParallaxError: The first mistake; its message gives the number of further ones.
    """
    report = check_study(study, seed, launched=launched)
    if report.errors:
        raise combine_errors(report.errors, study.folder)
    assert report.built is not None
    return SoundStudy(study, report.items, report.built)


def combine_errors(errors: Sequence[ParallaxError], folder: Path) -> ParallaxError:
    """Return the first of several errors, which then also says how many more there are."""
    first = errors[0]
    if len(errors) == 1:
        return first
    remainder = f"`parallax study check {folder}` names this and {len(errors) - 1} more"
    remedy = f"{first.remedy.rstrip('.')}. {remainder}" if first.remedy else remainder
    return type(first)(first.problem, where=first.where, expected=first.expected, remedy=remedy)


def _collect_findings(examined: Examined, checks: Sequence[StudyCheck]) -> Iterator[ParallaxError]:
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
