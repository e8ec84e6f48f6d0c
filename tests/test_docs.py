"""A command, a setting, a key or a rule that no page names is not there for its users."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from pydantic import BaseModel

import parallax
from experiment.exclusion.rules import RULES
from experiment.responses.registry import RESPONSE_TYPES
from experiment.responses.responders import RESPONDERS
from experiment.studies.study import Study
from webapp.core.settings import Settings, flat_name
from webapp.recruiters.registry import RECRUITERS
from webapp.recruiters.settings import SECTIONS

REGISTRIES = (RULES, RESPONDERS, RECRUITERS, RESPONSE_TYPES)
ROOT = Path(__file__).parent.parent
PAGES = {path: path.read_text("utf-8") for path in [ROOT / "README.md", *ROOT.glob("docs/*.md")]}
EVERYTHING = "\n".join(PAGES.values())


def commands(group: click.Group, path: str) -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}"


def keys(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield name
        for part in (field.annotation, *getattr(field.annotation, "__args__", ())):
            if isinstance(part, type) and issubclass(part, BaseModel):
                yield from keys(part)


@pytest.mark.parametrize("command", list(commands(parallax.cli, "parallax")))
def test_every_command_is_documented(command: str):
    assert command in EVERYTHING


def settings() -> Iterator[str]:
    yield from Settings.model_fields
    for section in RECRUITERS.built_in:
        model = SECTIONS.model(section)
        assert model is not None
        yield from (flat_name(section, name) for name in model.model_fields)


@pytest.mark.parametrize("setting", list(settings()))
def test_every_setting_is_documented(setting: str):
    assert f"`{setting}`" in PAGES[ROOT / "docs" / "settings.md"]


@pytest.mark.parametrize("key", sorted({*keys(Study)} - {"folder", "files"}))
def test_every_study_key_is_documented(key: str):
    assert f"`{key}`" in PAGES[ROOT / "docs" / "studies.md"]


@pytest.mark.parametrize("name", [name for registry in REGISTRIES for name in registry.built_in])
def test_every_rule_responder_recruiter_and_type_of_response_is_documented(name: str):
    assert f"`{name}`" in EVERYTHING


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path):
    for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", PAGES[page]):
        assert (page.parent / target).exists(), target


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings, as code hosts and the site make them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", re.sub(r"\]\([^)]*\)", "]", text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize(
    "page",
    [*PAGES, *ROOT.glob("docs/decisions/*.md"), *ROOT.glob("*.md")],
    ids=lambda page: page.stem,
)
def test_links_lead_to_headings_that_there_are(page: Path):
    """`make site` says the same and more, and takes longer."""
    for target, anchor in re.findall(
        r"\]\((?!https?:|mailto:)([^)#]*)#([^)]+)\)", page.read_text("utf-8")
    ):
        assert anchor in headings(page.parent / target if target else page), f"{target}#{anchor}"


def test_every_page_has_its_place_in_the_site():
    """A new page goes into the navigation in docs/site/mkdocs.yml; decisions need no line."""
    navigation = (ROOT / "docs" / "site" / "mkdocs.yml").read_text(encoding="utf-8")
    pages = {path.name for path in ROOT.glob("docs/*.md")}
    assert pages - set(re.findall(r"[\w-]+\.md\b", navigation)) == set()


def test_the_files_that_the_architecture_names_exist():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_/]+\.py)`", text))
    there = "\n".join(path.as_posix() for path in ROOT.glob("*/**/*.py")) + "\n"
    there += "\n".join(path.as_posix() for path in ROOT.glob("*.py"))
    assert len(named) > 40 and {name for name in named if f"/{name}" not in there} == set()


def test_the_files_to_which_newcomers_are_sent_exist():
    rows = re.findall(
        r"^\| [^|]+ \| `([^`]+)` \| `([^`]+)` \|$",
        (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert len(rows) >= 20
    missing = {file for file, _ in rows if not (ROOT / file).is_file()}
    missing |= {test for _, test in rows if not (ROOT / "tests" / test).is_file()}
    assert missing == set()
