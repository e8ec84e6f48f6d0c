"""The elements of a consent that ethics boards and the GDPR ask for, and where a study has them.

The elements are those of 45 CFR 46.116(b) and (c) and of Article 13 GDPR. They are recognised by
the headings and sentences of consent.md, by keys of study.toml that the consent page shows, and by
what the page itself says. Whether a text is sufficient is for an ethics board to decide.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from experiment.authoring.examined import Examined
from experiment.authoring.words import words_in
from experiment.errors import ParallaxError, StudyError, StudyNote
from experiment.plugins import unknown_name
from experiment.studies.study import STUDY_FILE, Study

_FILE = Path(__file__).with_name("consent.toml")
_ENGLISH = "en"
_LONGEST_EXCERPT = 80
# The consent page lists these rights below every study's text.
_LISTED_BY_PAGE = {"complaint": "the page's own list says it"}
_MARKDOWN_SIGNS = re.compile(r"[*_#>`]+")
# A heading in bold type ends with a full stop inside the stars; sentences end before a space.
_SENTENCE_ENDS = re.compile(r"(?<=[.!?:])\s+|(?<=[\u3002\uff01\uff1f])")


@dataclass(frozen=True, slots=True)
class ConsentElement:
    """An element of a consent.

    Attributes:
        name: The element's name in ``consent.headings`` of study.toml.
        title: A description for researchers.
        heading: A sample heading in the study's language; in English if there is none.
        passage: The passage, the key or the page's own list that covers the element; empty if
            the study has none.
        in_text: Whether the passage is in consent.md.
    """

    name: str
    title: str
    heading: str
    passage: str
    in_text: bool


def consent_elements(study: Study) -> tuple[ConsentElement, ...]:
    """Return every element of a consent, with the place where the study has it."""
    words, passages = _load_words_by_language(), _split_into_passages(study.text("consent"))
    own_words, english = words.get(_get_primary_language(study), {}), words[_ENGLISH]
    said_elsewhere = _LISTED_BY_PAGE | _name_consent_keys(study)
    elements = []
    for name, title in _load_titles().items():
        heading, *patterns = own_words.get(name, english[name])
        patterns += english[name][1:]
        for known_heading in filter(None, (heading, study.consent.headings.get(name))):
            patterns.append(rf"^{re.escape(known_heading.strip())}\W*$")
        pattern = re.compile("|".join(patterns), re.IGNORECASE)
        passage = next((excerpt for sentence, excerpt in passages if pattern.search(sentence)), "")
        element_text = passage or said_elsewhere.get(name, "")
        elements.append(ConsentElement(name, title, heading, element_text, bool(passage)))
    return tuple(elements)


def check_consent(examined: Examined) -> Iterator[ParallaxError]:
    """Report elements that the study's consent lacks, and headings that name no element."""
    study = examined.study
    known_names = list(_load_titles())
    for name in study.consent.headings:
        if name not in known_names:
            unknown = unknown_name("element of a consent", name, known_names)
            yield StudyError(
                unknown.problem,
                where=examined.at("consent", "headings"),
                expected=unknown.expected,
                remedy=unknown.remedy,
            )
    elements = consent_elements(study)
    where = examined.name_of(f"texts/{study.study.language}/consent.md")
    if not any(element.in_text for element in elements):
        yield _make_no_elements_error(study, where)
        return
    if missing := [element for element in elements if not element.passage]:
        missing_elements = "; ".join(
            f'{element.title} ("{element.heading}")' for element in missing
        )
        yield StudyNote(
            f"the consent text seems to lack {len(missing)} of the {len(elements)} elements that "
            f"45 CFR 46.116 and Article 13 GDPR ask for: {missing_elements}",
            where=where,
            expected="a passage for each element, under a heading such as the one in brackets; "
            "your ethics board decides which it requires",
            remedy="A heading in other words is named in [consent] headings of study.toml",
        )


def _make_no_elements_error(study: Study, where: str) -> ParallaxError:
    """Return a mistake, or a remark if the words of the study's language are not known."""
    has_words = _get_primary_language(study) in _load_words_by_language()
    kind = StudyError if has_words else StudyNote
    return kind(
        "the consent has none of the elements that participants must read before they agree, such "
        "as what they do, for how long, that it is voluntary, and whom to ask"
        if has_words
        else f"the elements of the consent cannot be recognised in {study.study.language}",
        where=where,
        expected="a passage for each element, under a heading such as "
        + ", ".join(f'"{element.heading}"' for element in consent_elements(study)[:4]),
        remedy="`parallax study new` writes such a text; a heading in other words is named in "
        "[consent] headings of study.toml",
    )


def check_generated_sentences(examined: Examined) -> Iterator[ParallaxError]:
    """Report sentences that `study new` generated and that study.toml does not match any more."""
    study = examined.study
    file = examined.name_of(f"texts/{study.study.language}/consent.md")
    texts = [(file, study.text("consent"))]
    if study.recruitment is not None:
        texts.append((examined.at("recruitment", "description"), study.recruitment.description))
    patterns = _generated_sentences(study.study.language)
    for where, text in texts:
        for sentence, _ in _split_into_passages(text):
            for match in filter(None, (pattern.fullmatch(sentence) for pattern in patterns)):
                if difference := _describe_difference(study, match):
                    problem, source = difference
                    yield StudyNote(
                        f'the sentence "{_shorten_passage(sentence)}" is not true any more: '
                        f"{problem}",
                        where=where,
                        expected=f"what {source} of {STUDY_FILE} says",
                        remedy=f"Change the sentence or {source}",
                    )


@cache
def _generated_sentences(language: str) -> tuple[re.Pattern[str], ...]:
    """Return the generated sentences of a consent that depend on study.toml, as patterns."""
    words = words_in(language)
    page, patterns = words.page("consent"), set[str]()
    for kind in words.asked.values():
        for sentence, _ in _split_into_passages(page.replace("{task}", kind.task)):
            if "{" in sentence:
                patterns.add(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>\\d+)", re.escape(sentence)))
    # After the task stands the sentence that announces the questions.
    about_questions = page.partition("{task}.")[2].partition("\n")[0].strip()
    patterns.add(f"(?P<questions>{re.escape(about_questions)})")
    return tuple(map(re.compile, sorted(patterns)))


def _describe_difference(study: Study, match: re.Match[str]) -> tuple[str, str] | None:
    """Return how study.toml differs from a generated sentence, and its key; None if it agrees."""
    values, terms = match.groupdict(), study.recruitment
    if "questions" in values:
        return None if study.questionnaire else ("the study asks none", "questionnaire")
    if "minutes" in values:
        if terms is None or abs(terms.median_minutes - int(values["minutes"])) < 1:
            return None
        unit = "minute" if terms.median_minutes == 1 else "minutes"
        return f"the median time is {terms.median_minutes:g} {unit}", "recruitment.median_minutes"
    lengths = sorted({study.design.trials(number) for number in range(study.design.n_lists)})
    if int(values["trials"]) in lengths:
        return None
    shown = f"{lengths[0]}" if len(lengths) == 1 else f"{lengths[0]} to {lengths[-1]}"
    return f"a list has {shown} trials", "design.trials_per_list"


def describe_consent(study: Study) -> Iterator[str]:
    """Yield the lines that list a consent's elements, each with the passage that covers it."""
    elements = consent_elements(study)
    n_found = sum(bool(element.passage) for element in elements)
    yield f"{n_found} of {len(elements)} elements of a consent (your ethics board decides)"
    width = max(len(element.title) for element in elements)
    for element in elements:
        passage = f'"{element.passage}"' if element.in_text else element.passage
        yield f"{element.title:<{width}}  {passage or 'MISSING'}"
    if unnamed := study.study.unnamed:
        yield f"Empty keys of [study] that the page would show below: {', '.join(unnamed)}"


def _name_consent_keys(study: Study) -> dict[str, str]:
    """Return the elements that keys of study.toml put on the consent page."""
    days = study.privacy.keep_identifying_days
    keys = {
        "questions": ("study.contact", study.study.contact),
        "controller": ("study.institution", study.study.institution),
        "data_protection": (
            "privacy.data_protection_officer",
            study.privacy.data_protection_officer,
        ),
        "legal_basis": ("privacy.legal_basis", study.privacy.legal_basis),
        "retention": ("privacy.keep_identifying_days", "" if days is None else str(days)),
    }
    return {name: f"{key} in study.toml" for name, (key, value) in keys.items() if value.strip()}


def _split_into_passages(markdown: str) -> list[tuple[str, str]]:
    """Return each heading and sentence without Markdown, with the rest of its paragraph."""
    passages = []
    for paragraph in re.split(r"\n\s*\n|(?<=\n)(?=#)", markdown):
        line = _MARKDOWN_SIGNS.sub("", " ".join(paragraph.split())).strip()
        starts = [0, *(match.end() for match in _SENTENCE_ENDS.finditer(line))]
        for start, end in zip(starts, [*starts[1:], len(line)], strict=True):
            if sentence := line[start:end].strip():
                passages.append(
                    (sentence, _shorten_passage(line[start : start + _LONGEST_EXCERPT + 1]))
                )
    return passages


def _shorten_passage(passage: str) -> str:
    if len(passage) <= _LONGEST_EXCERPT:
        return passage
    return passage[:_LONGEST_EXCERPT].rsplit(" ", 1)[0] + " ..."


def _get_primary_language(study: Study) -> str:
    return study.study.language.lower().partition("-")[0]


@cache
def _load_tables() -> dict[str, Any]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def _load_titles() -> dict[str, str]:
    titles: dict[str, str] = _load_tables()["elements"]
    return titles


def _load_words_by_language() -> dict[str, dict[str, list[str]]]:
    return {name: table for name, table in _load_tables().items() if name != "elements"}
