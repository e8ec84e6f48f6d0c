"""docs/materials.md names all there is, and its example works as it says."""

import re
from pathlib import Path

import pytest

from experiment.grammar.gloss import gloss
from experiment.grammar.grammar import generate, load_grammar
from experiment.grammar.tables import LexiconTable, RewriteTable, TemplateTable
from experiment.materials.render import RENDERINGS, render

PAGE = (Path(__file__).parents[3] / "docs" / "materials.md").read_text("utf-8")
STEPS = PAGE.split("\n## ")[2]


@pytest.mark.parametrize(
    "name",
    [
        "include",
        *LexiconTable.model_fields,
        *RewriteTable.model_fields,
        *TemplateTable.model_fields,
        *RENDERINGS,
    ],
)
def test_every_key_and_rendering_is_documented(name: str):
    assert f"`{name}`" in PAGE


@pytest.mark.parametrize("name", [*RENDERINGS])
def test_every_rendering_is_shown_as_it_is(name: str):
    assert f"`{render(name)('the author laughs')}`" in PAGE


def test_the_example_of_several_features_is_shown_as_the_page_shows_it(tmp_path: Path):
    section = PAGE.split("### Several features, and gender\n")[1].split("\n### ")[0]
    path = tmp_path / "grammar.toml"
    path.write_text("".join(re.findall(r"```toml\n(.*?)```", section, re.DOTALL)), "utf-8")
    grammar = load_grammar(path)
    (shown,) = re.findall(r"```\n(  singular\n.*?)```", section, re.DOTALL)
    assert list(gloss(grammar, grammar.templates[0]))[:7] == shown.splitlines()
    # "jeune" is left out: two nouns and one adjective in two conditions.
    assert len(list(generate(grammar))) == 2 * 1 * 2


def test_the_example_makes_as_many_items_as_the_page_says(tmp_path: Path):
    path = tmp_path / "grammar.toml"
    path.write_text("\n".join(re.findall(r"```toml\n(.*?)```", STEPS, re.DOTALL)), encoding="utf-8")
    items = list(generate(load_grammar(path)))
    assert "they make 64 items" in PAGE
    assert len(items) == 64
    assert ("the author near the chefs laughs", "the author near the chefs laugh") in {
        (item.good, item.bad) for item in items
    }
