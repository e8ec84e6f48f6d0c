"""The working page: instructions, practice, trials, and the scripts of the response types."""

import logging
from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from secrets import token_hex
from typing import cast

from flask import Flask, current_app, g, render_template
from jinja2 import ChoiceLoader, FunctionLoader
from jinja2.utils import htmlsafe_json_dumps
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from experiment.errors import ParallaxError
from experiment.records import SIDES, Side
from experiment.responses.base import ResponseType
from experiment.responses.registry import RESPONSE_TYPES, response_class, response_of
from experiment.studies.page_files import FONT_SUFFIX
from experiment.studies.question import LONGEST_TEXT
from experiment.studies.study import Study
from experiment.untrusted import MOST_CHARACTERS, is_too_marked
from webapp.participant.assets import assets_of
from webapp.services import current_services
from webapp.sessions.session_payload import OwnWork, Screen, Work

_MOST_RENDERED = 200  # texts of some ten kilobytes


def render_once(study: Study, name: tuple[object, ...], render: Callable[[], str]) -> str:
    """Return a text of the requested run, rendered by this process's first request for it."""
    rendered, key = current_services().rendered, (g.run_ref, *name)
    of_study, text = rendered.get(key, (None, ""))
    if of_study is not study:
        text = render()
        # Runs end, and blocks can come in many orders.
        if len(rendered) >= _MOST_RENDERED:
            rendered.clear()
        rendered[key] = study, text
    return text


# Where each participant's own data go in the rendered page; no study's text can contain them.
_OWN_DATA = {name: f"{name}-{token_hex(16)}" for name in ("trials", "answered", "device_known")}
_N_ANSWERED = f"done-{token_hex(16)}"


def render_own_working_page(
    study: Study,
    of_list: Study,
    list_: int | None,
    own: OwnWork,
    *,
    invitation: str,
    personal_link: bool,
    lease_minutes: int,
) -> str:
    """Return a participant's working page; only their own data differ between participants.

    Args:
        study: The run's study.
        of_list: The study as this participant sees it.
        list_: The participant's list.
        own: The participant's own data.
        invitation: As for ``render_working_page``.
        personal_link: Likewise.
        lease_minutes: Likewise.
    """
    edition = list_ if study.design.factors else None
    begun, by_code = bool(own.answered), bool(g.get("by_code"))

    def render() -> str:
        work = cast(Work, {**Screen(of_list).work([], blocks=own.blocks), **_OWN_DATA})
        return render_working_page(
            of_list,
            work,
            invitation=invitation,
            personal_link=personal_link,
            lease_minutes=lease_minutes,
            n_trials=len(own.blocks),
            n_answered=_N_ANSWERED if begun else 0,
        )

    kind = personal_link, bool(invitation), lease_minutes, begun, by_code
    page = render_once(study, ("working", edition, own.blocks, *kind), render)
    for data, placeholder in _OWN_DATA.items():
        json = htmlsafe_json_dumps(getattr(own, data), current_app.json.dumps)
        page = page.replace(f'"{placeholder}"', json)
    return page.replace(_N_ANSWERED, str(len(own.answered)))


def render_working_page(
    study: Study,
    work: Work,
    *,
    invitation: str = "",
    personal_link: bool = False,
    lease_minutes: int = 0,
    serverless: bool = False,
    n_trials: int | None = None,
    n_answered: int | str | None = None,
) -> str:
    """Return the page on which a participant works, or its preview.

    Args:
        study: The study.
        work: The session to show.
        invitation: The URL at which another person would begin; empty if no URL is for everybody.
        personal_link: Whether the participant came by a link that admits one person.
        lease_minutes: How long an inactive participant keeps the place; 0 where there are no
            places.
        serverless: Whether the study is static, so that the browser alone may have the answers.
        n_trials: The number of trials; by default, those of ``work`` are counted.
        n_answered: The number of answered trials, or its placeholder; by default likewise.
    """
    response, address = response_of(study), assets_of(current_app).address
    return render_template(
        "working.html",
        study=study,
        script=get_script_url(study),
        instructions=render_markdown(study.text("instructions")),
        response=response,
        work=add_script_urls(work, response, address),
        invitation=invitation,
        personal_link=personal_link,
        lease_minutes=lease_minutes,
        serverless=serverless,
        n_trials=n_trials,
        n_answered=n_answered,
        longest_text=LONGEST_TEXT,
        font="" if study.trial.font == "system" else study.trial.font,
        font_src=_font_data_url(study),
        pages={
            position: render_markdown(study.text(name)) for position, name in work["pages"].items()
        },
        sides=_pair_sides_with_keys(work["keys"]),
        task_sides={
            name: _pair_sides_with_keys(task["keys"])
            for name, task in work.get("tasks", {}).items()
        },
    )


def _font_data_url(study: Study) -> str:
    """Return the data URL of the study's own font; empty if it has none."""
    name = study.trial.font
    if not name.endswith(FONT_SUFFIX):
        return ""
    return f"data:font/woff2;base64,{b64encode(study.read_bytes(name)).decode()}"


def _pair_sides_with_keys(keys: Sequence[str]) -> list[tuple[Side, str]]:
    return list(zip(SIDES, keys, strict=False))


def add_script_urls(work: Work, response: ResponseType, address: Callable[[str], str]) -> Work:
    """Return the session with the URL of each task's script; unchanged if it has only one task.

    Args:
        work: The session.
        response: The response type of its trials.
        address: Maps a script's public name to its URL.
    """
    if "tasks" not in work:
        return work
    scripts = {
        task: address(script_name(task_response.script))
        for task, task_response in response.types.items()
    }
    tasks = {
        task: {**task_work, "script": scripts[task]} for task, task_work in work["tasks"].items()
    }
    return cast(Work, {**work, "tasks": tasks})


def get_script_url(study: Study) -> str:
    """Return the URL of the script of the study's response type."""
    return assets_of(current_app).address(script_name(response_of(study).script))


_RESPONSES_FOLDER = Path(__file__).parent / "responses"


def add_response_templates(app: Flask) -> None:
    """Let the app's templates include those of the response types."""
    loaders = [app.jinja_loader] if app.jinja_loader else []
    app.jinja_loader = ChoiceLoader([*loaders, FunctionLoader(_load_template)])


def _load_template(name: str) -> str | None:
    file = find_response_file(name)
    return file.read_text(encoding="utf-8") if file.is_file() else None


def list_response_scripts() -> dict[str, Traversable]:
    """Return the scripts of all response types, built in or installed, by public name."""
    scripts = {}
    for name in RESPONSE_TYPES:
        try:
            script = response_class(name).script
            if (file := find_response_file(script)).is_file():
                scripts[script_name(script)] = file
        except (ParallaxError, ModuleNotFoundError) as error:
            # Runs with this response type cannot be shown; all others can.
            logging.getLogger(__name__).warning("%s: %s", name, error)
    return scripts


def script_name(name: str) -> str:
    """Return a script's public file name; all scripts share one folder there."""
    return name.replace(":", "-").replace("/", "-")


def find_response_file(name: str) -> Traversable:
    """Return a file of a response type.

    Args:
        name: Its path below ``webapp/participant/responses/``, or ``"package:path"``.
    """
    package, _, path = name.rpartition(":")
    return (files(package) if package else _RESPONSES_FOLDER).joinpath(path)


# The few texts of a study are the same for all participants.
@lru_cache(maxsize=256)
@lru_cache(32)
def render_markdown(markdown: str) -> Markup:
    """Return a study's Markdown as HTML; HTML tags in it are escaped.

    A text with so much markup that rendering would be slow is shown without formatting.
    """
    if is_too_marked(markdown):
        shown = escape(markdown[:MOST_CHARACTERS])
        return Markup("<p>{}</p>").format(shown.replace("\n", Markup("<br>\n")))
    return Markup(MarkdownIt("commonmark", {"html": False}).render(markdown))
