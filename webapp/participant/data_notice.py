"""The list of stored data on the consent page.

The text comes from the platform, not from the study's author, so that no consent text can omit it.
A test compares it with the exported columns.
"""

from collections.abc import Iterator

from experiment.exclusion.rules import decided_by_score
from experiment.responses.base import ResponseType
from experiment.responses.registry import response_of
from experiment.studies.study import Study
from webapp.core.i18n import gettext
from webapp.sessions.collected import Collected, list_collected, list_declared_sentences


class Detail(str):
    """A sentence that the page shows under "More", with the sentence before it."""

    __slots__ = ()
    is_detail = True


def list_stored_data(
    study: Study,
    *,
    known_to_platform: bool,
    collected: Collected | None = None,
    serverless: bool = False,
) -> Iterator[str]:
    """Yield one sentence for each kind of data that is stored about participants.

    Args:
        study: The study that the participant is invited to.
        known_to_platform: Whether a recruiting platform identifies the participant.
        collected: What the run stores; None for what a run launched now would store.
        serverless: Whether the study is static, without a server of ours that limits arrivals.
    """
    response = response_of(study)
    collected = list_collected(response) if collected is None else collected
    yield gettext(
        "Two random codes instead of your name (one is shown only to you), and when you came,"
        " agreed, came back and finished."
    )
    yield from _describe_answer_data(study, response, serverless=serverless)
    yield from map(gettext, list_declared_sentences(collected, response))
    yield gettext(
        "Once for each device, under a random code: your browser (such as Firefox), its language,"
        " your time zone, your screen's refresh rate, and whether the browser says that a program"
        " controls it."
    )
    yield _describe_score(study)
    if study.humanness is not None:
        yield gettext(
            "Some tasks are there because people and programs answer them differently. Your answers"
            " to them are compared with published ones. By itself this decides nothing: a person"
            " does."
        )
    if not serverless:
        yield gettext(
            "For one hour, a code made from your network address, so that nobody can take all the"
            " places."
        )
    if study.taking_part.assent:
        yield gettext("That you and whoever decides for you agreed, to which texts, and when.")
    if study.screening or study.comprehension:
        yield gettext(
            "Your answers to the questions before the start, unless the study is not for you."
        )
    if study.questionnaire:
        yield gettext(
            "Your answers to the questions at the end, and whether you pasted something into them."
        )
    yield from _describe_platform_and_decisions(study, known_to_platform=known_to_platform)


def _describe_platform_and_decisions(study: Study, *, known_to_platform: bool) -> Iterator[str]:
    """Yield the sentences on the platform's data, payments, decisions, notes and erasure."""
    if known_to_platform:
        yield gettext(
            "The code by which the recruiting platform knows you and your session, and what else"
            " its link says, so that you can be paid. None of it is published."
        )
        yield gettext(
            "What you are paid through the platform, for what, and when. The accounts keep this"
            " even if your data are erased."
        )
    yield gettext(
        "Whether your answers are used, and why, and what the researchers note about your session"
        " or your link."
    )
    if (days := study.privacy.keep_identifying_days) is not None:
        yield (
            gettext(
                "One day after the study closes, we erase what the platform and your link say about"
                " you, and your answers to questions that could identify you."
            )
            if days == 1
            else gettext(
                "%(days)s days after the study closes, we erase what the platform and your link say"
                " about you, and your answers to questions that could identify you.",
                days=days,
            )
        )


def _describe_score(study: Study) -> str:
    """Return what is computed from times and presses, and who decides by it."""
    if decided_by_score(study):
        return gettext(
            "From these times and presses we compute a score: how much your session looks like a"
            " program's. Above a limit, your answers are left out without a person's decision. You"
            " may ask for the reasons, say what you think, and have a person decide."
        )
    return gettext(
        "From these times and presses we compute a score: how much your session looks like a"
        " program's. It decides nothing by itself: a person does."
    )


def describe_rights() -> str:
    """Return the sentence that lists the participant's rights."""
    return gettext(
        "You may see your data, get a copy, and have it corrected, erased, or kept but not used."
        " You may object to its use, withdraw your consent, and complain to your country's data"
        " protection authority."
    )


def describe_device_data() -> str:
    """Return the sentence on what is not stored, and on what stays on the participant's device."""
    return gettext(
        "We store no network address and set no cookie. So that nothing is lost, your browser"
        " keeps on this device where you are in the study and what is not saved yet."
    )


def _describe_answer_data(
    study: Study, response: ResponseType, *, serverless: bool
) -> Iterator[str]:
    """Yield one sentence for each kind of data stored about an answer."""
    yield gettext(
        "For each of your choices: what you chose, when, and whether by key, mouse or touch."
    )
    details = gettext(
        "Also for each choice: when you let go; how exact the times are; how far the mouse moved,"
        " and when it stopped; presses that came too early; how often the choice was shown; the"
        " size of the page and its zoom; whether the page was hidden or lost focus, and for how"
        " long; pictures that the screen skipped; and the time of day."
    )
    if not serverless:
        details += " " + gettext("Also how long each answer took to reach us.")
    yield Detail(details)
    if study.taking_part.traces:
        yield gettext(
            "The path of the mouse, pen or finger during each choice, and when keys were pressed"
            " and let go, but not which keys."
        )
    if response.step_table:
        yield gettext(
            "For each word or part of a sentence: when it appeared and how long you took, and where"
            " there were two words, which ones you chose."
        )


def compose_consent_text(
    study: Study,
    *,
    known_to_platform: bool,
    collected: Collected | None = None,
    serverless: bool = False,
) -> str:
    """Return the full text of the consent page, as participants download it and as it is stored.

    Its arguments are those of ``list_stored_data``.
    """
    stored = list_stored_data(
        study, known_to_platform=known_to_platform, collected=collected, serverless=serverless
    )
    notices = (f"- {sentence}" for sentence in (*stored, describe_device_data(), describe_rights()))
    heading = gettext("What is stored about you")
    sections = (heading, *notices, *list_responsible_parties(study))
    parts = (study.text("consent").strip(), *sections)
    return "\n\n".join(parts) + "\n"


def list_responsible_parties(study: Study) -> Iterator[str]:
    """Yield one sentence for each responsible party that the study names; none if it names none."""
    about = study.study
    if about.institution:
        yield gettext("Institution: %(name)s", name=about.institution)
    if about.contact:
        yield gettext("Contact: %(name)s", name=about.contact)
    if about.ethics:
        yield gettext("Ethics: %(name)s", name=about.ethics)
    if study.privacy.data_protection_officer:
        yield gettext("Data protection: %(name)s", name=study.privacy.data_protection_officer)
    if study.privacy.legal_basis:
        yield gettext("Legal basis: %(name)s", name=study.privacy.legal_basis)
