"""The participant pages of a folder: the server's templates, with placeholders for personal data.

Each level of a factor may have its own pages: an edition contains the pages for levels with the
same texts, and the data about their questions that the browser needs.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast
from urllib.parse import quote

from flask import Flask, g, render_template

from experiment.participation import Ending
from experiment.studies.page_files import own_messages
from experiment.studies.question import LONGEST_TEXT, Question
from experiment.studies.study import Study
from webapp.core.i18n import gettext, set_language
from webapp.http.error_handlers import error_heading
from webapp.participant.data_notice import (
    compose_consent_text,
    describe_device_data,
    describe_rights,
    list_responsible_parties,
    list_stored_data,
)
from webapp.participant.trial_page import render_markdown, render_working_page
from webapp.recruiters.base import Recruiter
from webapp.recruiters.endings import Departure, Exit
from webapp.sessions.admission import invite_to_try_again
from webapp.sessions.consent_texts import text_hash
from webapp.sessions.finish import describe_all_mistakes
from webapp.sessions.session_payload import Work

_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_BODY = re.compile(r"<body.*</body>", re.DOTALL)
_CONSENT_FILE = re.compile(r'href="[^"]*/consent\.txt[^"]*"')
# Link targets as on a server; in a folder, the page's script handles these links itself.
_HERE, _HOME = "./", "../../"
# Whoever leaves in these ways has no answers for the researchers.
_ENDINGS_WITHOUT_ANSWERS = (Ending.NO_CONSENT, Ending.DECLINED, Ending.SCREENED_OUT)


def make_placeholder(name: str) -> str:
    """Return the placeholder for a personal value, which the browser fills in."""
    return f"0PLACE0{name.encode().hex()}0END0"


class SharedWorkingPage(NamedTuple):
    """A working page that sessions with the same edition and the same texts between trials share.

    Attributes:
        study: The study as these participants see it.
        work: One of the sessions.
    """

    study: Study
    work: Work


@dataclass(frozen=True, slots=True)
class StaticPages:
    """The pages of a study without a server.

    Args:
        app: The app whose templates are used.
        study: The study, as it was launched.
        recruiter: The recruiter of its participants.
        keeper: The organisation that stores the answers, such as a host's name; empty if the
            participant keeps them.
        simulated: Whether programs take part.
    """

    app: Flask
    study: Study
    recruiter: Recruiter
    keeper: str
    simulated: bool

    @contextmanager
    def speaking(self) -> Any:  # noqa: ANN401 - a context
        """Use the study's language inside the block, as in a request for one of its runs."""
        with self.app.test_request_context():
            set_language(self.study.study.language, own_messages(self.study))
            g.simulated, g.shared_device = self.simulated, False
            yield

    @property
    def known_to_platform(self) -> bool:
        """Whether the panel identifies its participants."""
        return self.study.panel is not None and bool(self.study.panel.person)

    def consent_text(self) -> str:
        """Return the consent text as it is stored; only inside ``speaking``."""
        text = compose_consent_text(
            self.study, known_to_platform=self.known_to_platform, serverless=True
        )
        return f"{text.rstrip()}\n\n- {self._describe_storage()}\n"

    def words(self) -> dict[str, str]:
        """Return the messages of the page's script; only inside ``speaking``."""
        tries = self.study.comprehension.tries if self.study.comprehension else 1
        return {
            "required": str(gettext("Please answer this question.")),
            "choice": str(gettext("Please choose one of the answers.")),
            "number": str(gettext("Please give a number, such as 7 or 7.5.")),
            "longest": str(
                gettext("Please write at most %(number)s characters.", number=LONGEST_TEXT)
            ),
            **{f"again_{n}": str(invite_to_try_again(n)) for n in range(1, tries)},
            "kept": str(gettext("Kept in this browser")),
            "on_page": str(gettext("Kept on this page only")),
        }

    def rendered(
        self, works: Mapping[str, SharedWorkingPage], editions: Sequence[Study]
    ) -> dict[str, dict[str, str]]:
        """Return every page by name; only inside ``speaking``.

        Args:
            works: The working pages by name.
            editions: The study's editions. The pages after the trials exist once for each edition;
                from the second edition on, their names contain its number.
        """
        study = self.study
        consent = self._consent()
        pages = {
            "consent": consent,
            "anew": self._insert_file_form(consent, "<main>", anew=True),
            "wrong_link": self._wrong_link(),
        }
        for name, (met, work) in works.items():
            for page, done in ((name, ""), (f"{name} again", make_placeholder("done"))):
                trial_counts = {
                    **work,
                    "trials": [],
                    "done": done,
                    "total": make_placeholder("total"),
                }
                pages[page] = render_working_page(met, cast(Work, trial_counts), serverless=True)
        for number, edition in enumerate(editions):
            for name, page in replace(self, study=edition)._after_trials().items():
                pages[f"{name} {number}" if number else name] = page
        pages |= self._questions("screening", study.screening)
        if study.comprehension is not None:
            pages |= self._questions("comprehension", study.comprehension.questions)
        for ended in (False, True):
            name = "withdraw ended" if ended else "withdraw"
            pages[name] = self._page("way_out_page.html", home=_HERE, ended=ended)
        return {name: _split_page(page) for name, page in (pages | self._endings()).items()}

    def _page(self, template: str, **variables: Any) -> str:  # noqa: ANN401 - what templates show
        return render_template(
            template,
            study=self.study,
            serverless=True,
            keeper=self.keeper,
            code=make_placeholder("code"),
            **variables,
        )

    def _consent(self) -> str:
        stored = list_stored_data(
            self.study, known_to_platform=self.known_to_platform, serverless=True
        )
        page = self._page(
            "consent.html",
            changed=False,
            text_hash=text_hash(text := self.consent_text()),
            text=render_markdown(self.study.text("consent")),
            stored=[*stored, self._describe_storage()],
            on_device=describe_device_data(),
            rights=describe_rights(),
            answerable=list(list_responsible_parties(self.study)),
            known_to_platform=self.known_to_platform,
            visit="",
            run_ref="static",
            script="",
        )
        file = f'href="data:text/plain;charset=utf-8,{quote(text)}"'
        return _CONSENT_FILE.sub(file.replace("\\", r"\\"), page)

    def _describe_storage(self) -> str:
        if not self.keeper:
            return gettext(
                "Your answers stay in this browser, and in the file that you save at the end. The"
                " host of these pages can see your network address."
            )
        return gettext(
            "Your answers are kept for the researchers by %(keeper)s, which sees your network"
            " address, as the host of these pages does.",
            keeper=self.keeper,
        )

    def _wrong_link(self) -> str:
        text = gettext(
            "The id in this link is not complete. Please open the study once more from the page"
            " where you found it."
        )
        return self._page("error.html", heading=error_heading("malformed_id"), text=text)

    def _questions(self, name: str, questions: Sequence[Question]) -> dict[str, str]:
        """Return a page of questions, and a copy in which each question is marked as wrong."""
        if not questions:
            return {}
        bodies = {}
        for wrong in ("", " wrong"):
            bodies[name + wrong] = self._page(
                "questionnaire.html" if name == "questionnaire" else "admission.html",
                step=name,
                questions=questions,
                instructions=render_markdown(self.study.text("instructions")),
                this_try=1,
                given={},
                problems={question.name: "-" for question in questions} if wrong else {},
                longest_text=LONGEST_TEXT,
            )
        return bodies

    def _after_trials(self) -> dict[str, str]:
        """Return the pages whose texts or questions may differ between levels."""
        debrief = render_markdown(self.study.text("debrief"))
        return {
            **self._questions("questionnaire", self.study.questionnaire),
            "finished": self._over("closing.html", Ending.COMPLETED, text=debrief),
        }

    def _endings(self) -> dict[str, str]:
        pages = {
            "declined": self._over("declined.html", Ending.NO_CONSENT, again=_HOME),
        }
        for ending in (
            Ending.DECLINED,
            Ending.SCREENED_OUT,
            Ending.FAILED_CHECK,
            Ending.WITHDRAWN,
        ):
            has_answers = ending is not Ending.SCREENED_OUT
            if ending is Ending.DECLINED:
                has_answers = bool(self.study.screening or self.study.comprehension)
            pages[f"left {ending}"] = self._over(
                "left.html", ending, ending=ending, has_stored=has_answers
            )
        for erased in (False, True):
            name = "withdrawn erased" if erased else "withdrawn"
            pages[name] = self._over("withdrawn.html", Ending.WITHDRAWN, erased=erased)
        return pages

    def _over(self, template: str, left_by: Ending, **variables: Any) -> str:  # noqa: ANN401
        page = self._page(template, exit=self._exit(left_by), **variables)
        if left_by in _ENDINGS_WITHOUT_ANSWERS:
            return page
        erased = variables.get("erased", False)
        return self._insert_file_form(page, "</main>", erased=erased)

    def _insert_file_form(
        self, page: str, anchor: str, *, anew: bool = False, erased: bool = False
    ) -> str:
        """Return a page with the form for saving answers inserted at an anchor in its main part."""
        contact = self.study.study.contact
        form = render_template("static_file.html", contact=contact, anew=anew, erased=erased)
        return page.replace(anchor, anchor + form if anew else form + anchor, 1)

    def _exit(self, ending: Ending) -> Exit:
        panel = self.study.panel
        parameters = {name: make_placeholder(name) for name in panel.parameters} if panel else {}
        person = (
            " ".join(parameters[name] for name in panel.person) if panel and panel.person else None
        )
        departure = Departure(ending, self.study, platform_id=person, parameters=parameters)
        return self.recruiter.exit(departure)


def _split_page(page: str) -> dict[str, str]:
    title, body = _TITLE.search(page), _BODY.search(page)
    if title is None or body is None:
        raise RuntimeError("a participant's page has no title or no body")
    return {"title": title[1], "body": re.sub(r"\n\s*\n+", "\n", body[0])}


class Editions(NamedTuple):
    """A study's editions: the study as the participants of its lists see it.

    Attributes:
        studies: Each edition once; lists without their own wording share the first one.
        of_list: The number of each list's edition, from 0.
    """

    studies: list[Study]
    of_list: list[int]


def find_editions(study: Study) -> Editions:
    """Return a study's editions: one if no level changes the pages, the title or the questions.

    Raises:
        FileNotFoundError: A text of the study is missing.
    """
    edition_numbers: dict[object, int] = {}
    editions = Editions([], [])
    for list_ in range(study.design.n_lists):
        met = study.of_list(list_)
        texts = tuple(met.text(page) for page in met.texts)
        question_names = tuple(question.name for question in met.questionnaire)
        number = edition_numbers.setdefault(
            (met.study.title, texts, question_names), len(edition_numbers)
        )
        if number == len(editions.studies):
            editions.studies.append(met)
        editions.of_list.append(number)
    return editions


def describe_question(question: Question, accept: Iterable[str] | None = None) -> dict[str, Any]:
    """Return the data about a question that the browser needs; only while a language is set.

    Args:
        question: The question.
        accept: The answers with which the participant may continue; None for all.
    """
    data = {
        "name": question.name,
        "type": question.type,
        "options": question.options,
        "required": question.required,
        "points": question.points,
        "fewest": question.fewest,
        "most": question.most,
        "numbers": question.numbers,
        "only_if": getattr(question, "only_if", {}),
        "words": describe_all_mistakes(question),
    }
    if accept is None:
        return data
    limits = {name: getattr(question, name, None) for name in ("at_least", "at_most")}
    return {**data, **limits, "accept": list(accept)}
