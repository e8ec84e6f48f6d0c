"""Checks of a session: keys, answers, places, breaks, pages, widths, lock-outs, deadlines."""

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from experiment.authoring.examined import Examined
from experiment.errors import (
    ParallaxError,
    PluginError,
    StudyError,
    StudyNote,
    UnknownNameError,
    prefix_location,
)
from experiment.plugins import unknown_name
from experiment.records import PAIR
from experiment.responses.base import Balance, Gives, ResponseType
from experiment.responses.registry import answer_keys, response_of
from experiment.responses.responders import RESPONDERS
from experiment.studies.study import Study, Trials

_MOST_PLACES = 100_000


def check_answers(examined: Examined) -> Iterator[ParallaxError]:
    """Report a wrong number of answer keys, and responders that cannot answer."""
    study, response = examined.study, examined.response
    if response is None:
        return
    if response.types and "keys" in study.trial.model_fields_set:
        yield StudyError(
            "[trial] keys apply to a whole session, but each task of this session has its own keys",
            where=examined.at("trial", "keys"),
            expected="keys = [...] below [trial.parameters.tasks.NAME], or none",
        )
        return
    try:
        answer_keys(study, response)
    except ParallaxError as error:
        yield prefix_location(error, examined.at("trial", "keys"))
    yield from _cannot_answer(examined, response)
    tasks = response.types.values() or (response,)
    if study.coding is not None and not any(task.family in ("typed", "fluency") for task in tasks):
        yield StudyError(
            f"the study says how people code typed answers, but no answer of the type "
            f'"{response.name}" is typed',
            where=examined.at("coding"),
            expected='no table [coding], or the response "typed" or "fluency"',
        )
    if Gives.RIGHT in response.gives:
        return
    if study.attention is not None:
        yield StudyError(
            f'the attention check counts errors, but no answer of the type "{response.name}" is '
            "right or wrong",
            where=examined.at("attention"),
            expected=(
                "no table [attention], or a type of response in which participants choose an option"
            ),
        )
    if study.payment.bonus == "per_correct_catch_trial":
        yield StudyError(
            f'the bonus is for correct catch trials, but no answer of the type "{response.name}" '
            "is right or wrong",
            where=examined.at("payment", "bonus"),
            expected='bonus = "none", "everyone" or "kept"',
        )


def _cannot_answer(examined: Examined, response: ResponseType) -> Iterator[ParallaxError]:
    for name in examined.study.simulation.mix:
        try:
            responder = RESPONDERS.load(name)
        except UnknownNameError:
            # The check of the shares reports this name.
            continue
        except PluginError as error:
            # Participants are not affected: such a study can be launched, but not simulated.
            yield StudyNote(
                error.problem,
                where=examined.at("simulation", "mix"),
                expected=error.expected,
                remedy=error.remedy,
            )
            continue
        for type_ in response.types.values() or (response,):
            if hasattr(responder, type_.responder_method):
                continue
            yield StudyError(
                f'the simulated responder "{name}" cannot answer trials of the type "{type_.name}"',
                where=examined.at("simulation", "mix"),
                expected=f'a responder with the method "{type_.responder_method}"',
                remedy=f"Those of Parallax that can are: {', '.join(RESPONDERS.built_in)}",
            )


def check_places(examined: Examined) -> Iterator[ParallaxError]:
    """Report numbers of places (participant slots) that leave sides or versions unbalanced."""
    study = examined.study
    for number, quota in enumerate(study.design.quotas):
        if quota.participants_per_list is None and quota.trials_per_list is None:
            yield StudyNote(
                "the quota sets no number",
                where=examined.at("design", "quotas", number),
                expected="participants_per_list, trials_per_list, or both",
            )
    options, unbalanced = _count_balanced_places(study), _describe_imbalance(examined)
    for number in map(study.design.places, range(study.design.n_lists)):
        if number % options == 0 or not unbalanced:
            continue
        expected = "an even number" if options == len(PAIR) else f"a multiple of {options}"
        balance = "neighbouring places show the opposite"
        if options > len(PAIR):
            balance = (
                f"over {options} neighbouring places, each option is shown once in each position"
            )
        yield StudyNote(
            f"with {number} participants in a list, {unbalanced}",
            where=examined.at("design", "participants_per_list"),
            expected=f"{expected}, because {balance}",
        )
        return


def check_task_titles(examined: Examined) -> Iterator[ParallaxError]:
    """Report several tasks of a session that share one title, the study's."""
    response = examined.response
    tasks = response.page_tasks if response else {}
    untitled = [name for name, task in tasks.items() if not task["title"]]
    if len(untitled) > 1:
        yield StudyNote(
            f"the tasks {' and '.join(untitled)} have no title, so participants see the study's, "
            f'"{examined.study.study.title}", above the trials of each',
            where=examined.at("trial", "parameters", "tasks", untitled[0]),
            expected="a title for each task that says what is asked",
        )


def check_keys_in_instructions(examined: Examined) -> Iterator[ParallaxError]:
    """Report keys in bold in the instructions that are not the keys of ``[trial]``."""
    study = examined.study
    if "keys" not in study.trial.model_fields_set or "instructions" not in study.texts:
        return
    try:
        text = study.text("instructions")
    except (OSError, UnicodeDecodeError, ParallaxError):
        # The check of the texts reports this file.
        return
    named_keys = re.findall(r"\*\*(\w)\*\*", text)
    choosing_keys = [key.lower() for key in study.trial.keys]
    wrong_keys = sorted({key for key in named_keys if key.lower() not in choosing_keys})
    if wrong_keys:
        yield StudyNote(
            f"the instructions name the keys {', '.join(wrong_keys)}, which choose nothing",
            where=examined.name_of(f"texts/{study.study.language}/instructions.md"),
            expected=f"the keys of [trial]: {', '.join(study.trial.keys)}",
        )


def check_number_of_places(examined: Examined) -> Iterator[ParallaxError]:
    """Raise an error if a study has more places than a run can hold.

    Raises:
        StudyError: There are too many places; checks over all places would take hours.
    """
    number = examined.study.design.n_lists
    if number <= _MOST_PLACES:
        number = examined.study.design.n_places
    if number > _MOST_PLACES:
        raise StudyError(
            f"the study has {number:,} places (participants) or more",
            where=examined.at("design", "participants_per_list"),
            expected=f"at most {_MOST_PLACES:,}, because each session is built and audited",
        )
    yield from ()


def _describe_imbalance(examined: Examined) -> str:
    """Return what is unbalanced if the number of participants is odd; an empty text if nothing."""
    try:
        response = response_of(examined.study)
        types = [(item, response.of_item(item)) for item in examined.items]
        two_versions = any(len(type_.versions(item)) > 1 for item, type_ in types)
    except ParallaxError:
        # Another check reports this error.
        return ""
    has_sides = any(
        type_.balance is not Balance.VERSIONS or type(type_).drawn is not ResponseType.drawn
        for _, type_ in types
    )
    if has_sides or not types:
        return "each item is shown once more on one side than on the other"
    return "one version of an item is shown once more than the other" if two_versions else ""


def _count_balanced_places(study: Study) -> int:
    """Return the number of places over which a list's screens are balanced."""
    try:
        return response_of(study).balanced_over
    except ParallaxError:
        # The check of the response type reports this error.
        return len(PAIR)


def check_pauses(examined: Examined) -> Iterator[ParallaxError]:
    """Report breaks that never occur, and pages of unknown blocks."""
    study = examined.study
    order, blocks = study.design.order, study.design.block_names
    if study.trial.break_every >= study.design.most_trials:
        yield StudyNote(
            f"a break after every {study.trial.break_every} trials never occurs in a session "
            f"of {study.design.most_trials} trials",
            where=examined.at("trial", "break_every"),
        )
    if order.breaks and len(blocks) == 1:
        yield StudyNote(
            "a break between blocks never occurs in a session of one block",
            where=examined.at("design", "order", "breaks"),
            expected="block in one of design.squares, design.shared or design.given",
        )
    if order.blocks == "counterbalanced" and len(blocks) == 1:
        yield StudyNote(
            "there is only one block, so the order of blocks cannot be counterbalanced",
            where=examined.at("design", "order", "blocks"),
            expected="block in one of design.squares, design.shared or design.given",
        )
    for block, page in order.pages.items():
        location = examined.at("design", "order", "pages")
        if block not in blocks:
            yield prefix_location(unknown_name("block", block, filter(None, blocks)), location)
        yield from report_missing_page(examined, page, location)


def report_missing_page(examined: Examined, page: str, location: str) -> Iterator[ParallaxError]:
    """Report a text of the study that is missing, empty or unreadable."""
    study = examined.study
    try:
        if study.text(page).strip():
            return
        problem = "is empty"
    except FileNotFoundError:
        problem = "is not there"
    except (OSError, UnicodeDecodeError):
        problem = "is not UTF-8 text"
    folder = f"texts/{study.study.language}"
    page_names = sorted(path.stem for path in (Path(study.folder) / folder).glob("*.md"))
    near = unknown_name("page", page, page_names).remedy
    yield StudyError(
        f'the page "{page}" {problem}',
        where=location,
        expected=f"the file {folder}/{page}.md",
        remedy=near or "Write the text, or remove the page",
    )


# The width of the narrowest phone.
_NARROWEST_PX = 320


def check_widths(examined: Examined) -> Iterator[ParallaxError]:
    """Report the widest word that does not fit on one line of a phone's screen."""
    response = examined.response
    if response is None:
        return
    widest, widest_item, window_width, number = "", None, 0, 0
    for item in examined.items:
        of_item = response.of_item(item)
        if (fits := of_item.letters_in_place) is None:
            continue
        for word in of_item.unbroken_words(item):
            number += _measure_width(word) > fits
            if _measure_width(word) > max(fits, _measure_width(widest)):
                widest, widest_item, window_width = word, item, fits
    if widest_item is not None:
        yield StudyNote(
            f'the word "{widest}" has {len(widest)} letters, and a phone of {_NARROWEST_PX} px has '
            f"room for about {window_width} in its place: there it breaks or runs over the edge"
            + (f" (so are {number - 1} others)" if number > 1 else ""),
            where=examined.place_of(widest_item) or examined.at("response"),
            expected="shorter words, or participants at larger screens",
            remedy="Ask for a larger screen in the invitation; viewport_width_px shows who had one",
        )


def _measure_width(word: str) -> int:
    """Return a word's width in Latin letters; East Asian wide letters count twice."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in word)


def check_deadlines(examined: Examined) -> Iterator[ParallaxError]:
    """Report deadlines that cannot be met, or that participants are not told."""
    study, response = examined.study, examined.response
    if response is None:
        return
    tasks = response.types or {"": response}
    with_one = {name: type_ for name, type_ in tasks.items() if type_.deadline_ms is not None}
    if response.types and response.deadline_ms is not None:
        yield StudyError(
            "deadline_ms of [trial.parameters] applies to a whole session, but each task of "
            "this session has its own deadline, or none",
            where=examined.at("trial", "parameters", "deadline_ms"),
            expected="deadline_ms below [trial.parameters.tasks.NAME]",
        )
    for name, type_ in with_one.items():
        yield from _report_early_deadline(examined, name, type_)
    if with_one and not study.trial.practice:
        yield StudyNote(
            "the study has a deadline but no practice trials, and only practice trials tell "
            "participants that an answer was late",
            where=_locate_deadline(examined, next(iter(with_one))),
            expected="practice trials (docs/studies.md)",
        )


def _report_early_deadline(
    examined: Examined, task: str, type_: ResponseType
) -> Iterator[ParallaxError]:
    lockout = examined.study.trial.lockout_ms
    if type_.deadline_ms is not None and type_.deadline_ms <= lockout:
        yield StudyError(
            f"the deadline is after {type_.deadline_ms} ms, but no press counts in the first "
            f"{lockout} ms",
            where=_locate_deadline(examined, task),
            expected=f"more than {lockout}",
            remedy="Raise deadline_ms, or lower lockout_ms below [trial]",
        )


def check_double_clicks(examined: Examined) -> Iterator[ParallaxError]:
    """Report a lock-out and gap so short that the end of a double click answers a trial."""
    trial = examined.study.trial
    usual_ms = Trials.model_fields["lockout_ms"].default
    if (together_ms := trial.lockout_ms + trial.gap_ms) < usual_ms:
        yield StudyNote(
            f"a press counts from {together_ms} ms after the previous answer, so "
            "a double click or a tremor can answer two trials",
            where=examined.at("trial", "lockout_ms"),
            expected=f"lockout_ms and gap_ms that together are {usual_ms} or more",
        )


def _locate_deadline(examined: Examined, task: str) -> str:
    task_keys = ("tasks", task) if task else ()
    return examined.at("trial", "parameters", *task_keys, "deadline_ms")
