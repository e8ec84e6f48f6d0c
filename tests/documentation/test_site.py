"""The site's reference is made from the code, and its other pages are those of docs/."""

import pytest

from experiment.authoring.study_toml import study_schema
from experiment.tables.schemas import RESPONSES
from lm.registry import TYPES
from tests.documentation.examples import ROOT
from tests.test_docs import REGISTRIES, commands, parallax, settings

SITE = ROOT / "docs" / "site"


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SITE))
        from reference.pages import reference_pages

        return reference_pages()


def test_every_command_setting_column_and_name_is_in_the_reference(pages):
    for command in commands(parallax.cli, "parallax"):
        assert any(f"\n## {command} {{" in text for text in pages.values()), command
    for setting in settings():
        assert f"`PARALLAX_{setting.upper()}`" in pages["reference/settings.md"]
    for column in RESPONSES.columns:
        assert f"| `{column.name}` | {column.type} |" in pages["reference/tables.md"]
    for name in (*(name for registry in REGISTRIES for name in registry.built_in), *TYPES):
        assert f"\n### {name}\n" in pages["reference/names.md"]


def test_every_key_of_a_study_is_in_the_reference_below_its_table(pages):
    schema, page = study_schema(), pages["reference/study.md"].replace("\\", "")
    for name, shape in schema["$defs"].items():
        for key, each in shape.get("properties", {}).items():
            assert f"| `{key}` |" in page or f".{key}]" in page, (name, key, each)
    assert "| `lists` | integer | required |" in page


def test_an_error_stands_in_the_index_with_its_remedy(pages):
    text = pages["reference/errors/webapp.md"]
    assert '**the recruiter "\u2026" neither publishes runs nor pays participants.**' in text
    assert "Launch such a run with: parallax launch STUDY --recruiter NAME" in text


def test_lists_get_the_line_before_them_that_mkdocs_needs_and_code_keeps_its_own(monkeypatch):
    monkeypatch.syspath_prepend(str(SITE))
    import hooks

    page = "Text\n- one\n- two\n\n```text name\na\n- b\n```\n"
    wanted = "Text\n\n- one\n- two\n\n```text\na\n- b\n```\n"
    assert hooks.on_page_markdown(page) == wanted
    assert hooks.from_the_top(ROOT / "README.md").count("](docs/") == 0
