"""Checks of the keys of study.toml that need no items, and of the columns that they name."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import PurePath

from babel import Locale

from experiment.authoring.examined import Examined
from experiment.authoring.words import is_tag, usual_tag, words_in
from experiment.design.practice import read_practice
from experiment.errors import ParallaxError, StudyError, StudyNote, find_repeated, prefix_location
from experiment.exclusion.rules import load_rule, parts_of
from experiment.materials.formats.columns import quote_header
from experiment.materials.formats.words import NAMES
from experiment.materials.picture_bytes import EXPECTED_PICTURE, explain_unshown
from experiment.materials.render import PICTURE, render
from experiment.money import in_words
from experiment.panels.panel import unbounded_patterns
from experiment.payment.cost import hourly_minor
from experiment.plugins import unknown_name
from experiment.responses.registry import response_of
from experiment.responses.responders import RESPONDERS
from experiment.studies.analysis_plan import TRIAL_ORDER
from experiment.studies.key_errors import misread
from experiment.studies.study import PAGES, Rule, Study
from experiment.tables.schemas import PARTICIPANTS
from experiment.untrusted import MOST_CHARACTERS, MOST_MARKS, is_too_marked

# The lowest minimum wage in the United States: a fair study pays at least this.
_LEAST_HOURLY, _ITS_CURRENCY = 725, "USD"
# Above this, the amount may have been given in minor units.
_MOST_HOURLY = 20_000
_LONGEST_PLATFORM_TITLE = 128
_MARKUP = re.compile(r"</?[a-zA-Z][^<>]*>")


def check_study_section(examined: Examined) -> Iterator[ParallaxError]:
    """Report mistakes in [study], such as its name and its language."""
    study = examined.study.study
    folder = examined.study.folder.name
    if study.name != folder:
        yield StudyNote(
            f'the study is called "{study.name}", but its folder is called "{folder}"',
            where=examined.at("study", "name"),
            remedy="Give both the same name, which identifies the study in tables and files",
        )
    if not is_tag(study.language):
        yield StudyError(
            f'"{study.language}" is not a language tag',
            where=examined.at("study", "language"),
            expected='a tag of BCP 47, such as "en", "pt-BR" or "zh-Hant"',
        )
    elif (usual := usual_tag(study.language)) != study.language:
        yield StudyNote(
            f'the usual tag of "{study.language}" is "{usual}"',
            where=examined.at("study", "language"),
            remedy=f'Write language = "{usual}", and rename the folder of texts to texts/{usual}',
        )


def check_renderings(examined: Examined) -> Iterator[ParallaxError]:
    """Report unknown renderings."""
    for key in ("shown_to_people", "given_to_models"):
        name = getattr(examined.study.materials, key)
        yield from _yield_error(partial(render, name), examined.at("materials", key))


def check_response_type(examined: Examined) -> Iterator[ParallaxError]:
    """Report why the response type cannot be loaded."""
    study = examined.study
    key = ("trial", "parameters") if study.trial.parameters else ("response",)
    location = examined.at(*key)
    try:
        response = response_of(study)
    except ParallaxError as error:
        yield prefix_location(error, location)
        return
    yield from misread(study.trial.parameters, response, location)


def check_practice(examined: Examined) -> Iterator[ParallaxError]:
    """Report why the practice trials cannot be read."""
    study = examined.study
    yield from _yield_error(partial(read_practice, study), examined.at("trial", "practice"))


def check_simulation(examined: Examined) -> Iterator[ParallaxError]:
    """Report shares of simulated participants that do not sum to 1, and unknown responders."""
    mix = examined.study.simulation.mix
    for name in mix:
        if name not in RESPONDERS and ":" not in name:
            unknown = unknown_name("responder", name, list(RESPONDERS))
            yield prefix_location(unknown, examined.at("simulation", "mix"))
    if any(share < 0 for share in mix.values()) or not math.isclose(sum(mix.values()), 1):
        shares = " + ".join(f"{share:g}" for share in mix.values())
        yield StudyError(
            f"the shares of the simulated participants are {shares} = {sum(mix.values()):g}",
            where=examined.at("simulation", "mix"),
            expected="shares of 0 or more that sum to 1",
        )


def check_reaction_times(examined: Examined) -> Iterator[ParallaxError]:
    """Report a simulated time so short that no press counts, for instance in seconds."""
    median, lockout = examined.study.simulation.median_rt_ms, examined.study.trial.lockout_ms
    if median is not None and median <= lockout:
        yield StudyNote(
            f"simulated participants need {median:g} ms, but no press counts before {lockout} ms",
            where=examined.at("simulation", "median_rt_ms"),
            expected="a time in milliseconds, such as 3500",
        )


def check_rules(examined: Examined) -> Iterator[ParallaxError]:
    """Report exclusion rules that are unknown or lack a parameter."""
    for number, rule in enumerate(examined.study.exclusion):
        location = examined.at("exclusion", number)
        try:
            yield from _report_misread_rules(rule, location)
        except ParallaxError as error:
            yield prefix_location(error, location)
        if rule in examined.study.exclusion[:number]:
            yield StudyNote("the same rule is given twice", where=location)


def _report_misread_rules(rule: Rule, location: str) -> Iterator[ParallaxError]:
    yield from misread(rule.model_extra or {}, load_rule(rule), location)
    for part in parts_of(rule):
        yield from _report_misread_rules(part, location)


def check_constructions(examined: Examined) -> Iterator[ParallaxError]:
    """Report constructions that are listed twice."""
    names = [construction.name for construction in examined.study.constructions]
    for name in find_repeated(names):
        second = [n for n, known in enumerate(names) if known == name][1]
        yield StudyError(
            f'the construction "{name}" is listed more than once',
            where=examined.at("constructions", second, "name"),
            expected="each construction once, because each is a row of the results",
        )


def check_recruitment(examined: Examined) -> Iterator[ParallaxError]:
    """Report recruitment terms that no platform accepts or no participant can meet."""
    study, terms = examined.study, examined.study.recruitment
    if terms is None:
        return
    title, territories = terms.title or study.study.title, Locale("en").territories
    if len(title) > _LONGEST_PLATFORM_TITLE:
        yield StudyError(
            f"the title has {len(title)} characters",
            where=examined.at("recruitment", "title"),
            expected=f"at most {_LONGEST_PLATFORM_TITLE} on a platform",
            remedy="Give a shorter title in [recruitment]",
        )
    for code in terms.countries:
        if code not in territories:
            near = ' Did you mean "GB"?' if code == "UK" else ""
            yield StudyError(
                f'"{code}" is not a country{"." if near else ""}{near}',
                where=examined.at("recruitment", "countries"),
                expected="codes of ISO 3166, such as US, GB or DE",
            )
    if terms.duration_minutes < terms.median_minutes:
        yield StudyError(
            f"workers have {terms.duration_minutes} minutes for a session of "
            f"{terms.median_minutes:g} at the median",
            where=examined.at("recruitment", "duration_minutes"),
            expected="three or four times median_minutes",
        )
    for country in sorted({*terms.require} & {*terms.refuse}):
        yield StudyError(
            f'the qualification "{country}" is both required and refused',
            where=examined.at("recruitment", "refuse"),
            expected="each qualification in only one of the two",
        )
    hourly = hourly_minor(study)
    if study.currency == _ITS_CURRENCY and hourly > _MOST_HOURLY:
        yield StudyNote(
            f"the reward is {in_words(hourly, study.currency)} an hour",
            where=examined.at("recruitment", "reward"),
            expected='an amount in whole units of the currency, such as "2.50"',
        )
    if study.currency == _ITS_CURRENCY and hourly < _LEAST_HOURLY:
        yield StudyNote(
            f"the reward is {in_words(hourly, study.currency)} an hour",
            where=examined.at("recruitment", "reward"),
            expected=f"at least {in_words(_LEAST_HOURLY, _ITS_CURRENCY)}, the lowest minimum wage"
            " of the United States",
        )


def check_patterns(examined: Examined) -> Iterator[ParallaxError]:
    """Report panel patterns that a server cannot match in bounded time."""
    panel = examined.study.panel
    for path, reason in unbounded_patterns(panel) if panel is not None else ():
        yield StudyError(
            "the pattern could keep the server busy for minutes, because some texts take very "
            "long to match",
            where=examined.at("panel", *path),
            expected=reason,
        )


def check_markdown(examined: Examined) -> Iterator[ParallaxError]:
    """Report texts with more Markdown than pages can show."""
    study = examined.study
    for name in sorted(study.texts):
        try:
            text = study.read(f"texts/{study.study.language}/{name}.md")
        except (OSError, UnicodeDecodeError):
            continue  # another check reports this file
        if is_too_marked(text):
            yield StudyError(
                f'the text "{name}" is too long, or has too many lines and Markdown marks',
                where=f"texts/{study.study.language}/{name}.md",
                expected=f"at most {MOST_CHARACTERS:,} characters, and {MOST_MARKS:,} lines, stars,"
                " brackets and other marks together; pages show a longer text without formatting",
            )
            continue
        for picture in PICTURE.finditer(text):
            if reason := explain_unshown(picture[2]):
                yield StudyError(
                    f'the text "{name}" has a picture that {reason}',
                    where=f"texts/{study.study.language}/{name}.md",
                    expected=EXPECTED_PICTURE,
                )


def check_files(examined: Examined) -> Iterator[ParallaxError]:
    """Report named files that are missing, and list the existing ones."""
    study = examined.study
    table = study.materials
    key = "grammar" if table.grammar else "items"
    name = table.grammar or table.items
    if PurePath(name).is_absolute() or ".." in PurePath(name).parts:
        yield StudyError(
            f'the file "{name}" lies outside the study',
            where=examined.at("materials", key),
            expected="a file in the study's folder",
            remedy="Copy it there, so that the study folder is complete",
        )
    elif study.files is None and not (study.folder / name).is_file():
        present = sorted(path.name for path in study.folder.iterdir() if path.is_file())
        unknown = unknown_name("file", name, present)
        yield prefix_location(unknown, examined.at("materials", key))


def check_translated(examined: Examined) -> Iterator[ParallaxError]:
    """Report pages that still have the English default text of a new study."""
    study = examined.study
    if match := _MARKUP.search(study.study.title):
        yield StudyNote(
            f'the title holds "{match[0]}", which participants would see literally',
            where=examined.at("study", "title"),
            expected="plain text",
        )
    if study.study.language.partition("-")[0] == "en":
        return
    english = words_in("en")
    for number, question in enumerate(study.questionnaire):
        if question.label in english.labels:
            yield StudyNote(
                f'the question "{question.label}" is still in English',
                where=examined.at("questionnaire", number, "label"),
                expected=f"the language of the study ({study.study.language})",
            )
    if study.study.title in english.titles:
        yield StudyNote(
            f'the title "{study.study.title}", shown above each trial, is still in English',
            where=examined.at("study", "title"),
            expected=f"the language of the study ({study.study.language})",
        )
    for name in ("lowest", "highest"):
        if (end := study.trial.parameters.get(name)) == getattr(english, name):
            yield StudyNote(
                f'the end of the scale "{end}" is still in English',
                where=examined.at("trial", "parameters", name),
                expected=f"the language of the study ({study.study.language})",
            )
    for page in PAGES:
        begins = english.page(page).split("\n", 1)[0]
        if study.text(page).startswith(begins):
            yield StudyNote(
                f'the text of the page "{page}" is still in English',
                where=examined.name_of(f"texts/{study.study.language}/{page}.md"),
                expected=f"the language of the study ({study.study.language})",
            )


def _yield_error(check: Callable[[], object], location: str) -> Iterator[ParallaxError]:
    try:
        check()
    except ParallaxError as error:
        yield prefix_location(error, location)


# Explanations of Parallax's column names that are not columns of the items.
_OTHER_COLUMNS = {
    "item": "the item's number (frame)",
    "sentence": "the sentence",
    "version": "which sentence of a pair is the good one",
}


def check_analysis_names(examined: Examined) -> Iterator[ParallaxError]:
    """Report factors, covariates and units of the analysis that the study lacks."""
    if not examined.items:
        return
    study, plan = examined.study, examined.study.analysis
    columns = _list_columns(examined)
    question_names = [question.name for question in study.questionnaire]
    score_names = _list_scores(study)
    location = {key: examined.at("analysis", key) for key in ("factors", "covariates", "repeats")}
    between = list(study.design.factors)
    taken = {*columns, *question_names, *between, *PARTICIPANTS.column_names}
    for name in find_repeated([*score_names, *taken]):
        yield StudyError(
            f'the score is named "{name}", like another score, column, question or factor',
            where=examined.at("trial", "parameters"),
            expected="a score with a name of its own",
        )
    yield from _report_unknown_names(
        "column", plan.factors, [*columns, *between], location["factors"]
    )
    yield from _report_unknown_names(
        "column, question or score",
        plan.covariates,
        [*columns, *question_names, *score_names, TRIAL_ORDER],
        location["covariates"],
    )
    yield from _report_unknown_names(
        "column", [plan.repeats] if plan.repeats else [], columns, location["repeats"]
    )
    for name in plan.covariates:
        if name in study.privacy.identifying_questions:
            yield StudyError(
                f'the answers to "{name}" identify people, so they are erased and cannot be a '
                "covariate",
                where=location["covariates"],
                expected="a question that privacy.identifying_questions does not name",
            )


def _list_scores(study: Study) -> list[str]:
    try:
        return [column.name for column in response_of(study).score_columns]
    except ParallaxError:
        # ``check_response_type`` reports the type.
        return []


def _list_columns(examined: Examined) -> list[str]:
    further = {name for item in examined.items for name, _ in item.extra}
    features = {part.partition("=")[0] for item in examined.items for part in item.features.split()}
    return sorted(further | features)


def _report_unknown_names(
    kind: str, names: Sequence[str], known_names: Sequence[str], location: str
) -> Iterator[ParallaxError]:
    for name in names:
        if name not in known_names:
            yield prefix_location(unknown_name(kind, name, known_names), location)


def check_headers(examined: Examined) -> Iterator[ParallaxError]:
    """Report names in ``materials.headers`` that are not columns of Parallax."""
    for column in examined.study.materials.headers:
        if column not in NAMES:
            yield prefix_location(
                unknown_name("column of Parallax", column, list(NAMES)),
                examined.at("materials", "headers", column),
            )


def headers_in_words(study: Study) -> str:
    """Return a sentence that lists the headers read as Parallax columns; empty if none."""
    readings = [
        f"{_OTHER_COLUMNS.get(column, column)} from {quote_header(header)}"
        for column, header in study.materials.headers.items()
    ]
    return f"Read from your table: {'; '.join(readings)}." if readings else ""
