"""What the site adds to the pages in docs/: the project's own pages and the generated reference.

MkDocs calls the functions here by their names. Nothing is written into the repository.
"""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from reference.pages import reference_pages

ROOT = Path(__file__).parents[2]
# Pages that lie at the top of the repository, and where the site has them.
PROJECT_PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "reporting.md",
}
# Files that are offered as they are, and where.
PROJECT_FILES = {"CITATION.cff": "CITATION.cff", "docs/site/site.css": "assets/site.css"}
_NAMED_FENCE = re.compile(r"^(```[a-z]+) [a-z][a-z0-9-]*$", re.MULTILINE)
_TEXT_THEN_LIST = re.compile(
    r"^(?![ \t]*(?:[-*]|\d+\.) |[ \t]*$|#|\|)(.+)\n(?=(?:[-*]|1\.) )", re.MULTILINE
)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put every decision into the navigation, in the order of their names."""
    [decisions] = [part["Decisions"] for part in config.nav if "Decisions" in part]
    found = sorted(path.name for path in (ROOT / "docs" / "decisions").glob("*.md"))
    decisions += [f"decisions/{name}" for name in found if name != "README.md"]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that docs/ does not hold."""
    pages = {site: from_the_top(ROOT / name) for name, site in PROJECT_PAGES.items()}
    pages |= {site: (ROOT / name).read_text("utf-8") for name, site in PROJECT_FILES.items()}
    for path, text in {**pages, **reference_pages()}.items():
        files.append(File.generated(config, path, content=text))
    return files


def from_the_top(path: Path) -> str:
    """Return a page of the repository's top with its links as they are from within docs/."""
    text = path.read_text(encoding="utf-8").replace("](docs/", "](").replace('"docs/', '"')
    for name, site in PROJECT_PAGES.items():
        text = text.replace(f"]({name}", f"]({site}")
    return text


def on_page_markdown(markdown: str, **_: object) -> str:
    """Return a page as MkDocs must have it; code hosts read the same without this.

    A block's second word is the name by which a test finds it. A list needs an empty line before.
    """
    for name, site in {**PROJECT_PAGES, **PROJECT_FILES}.items():
        markdown = markdown.replace(f"](../{name}", f"]({site}")
    return outside_code(_NAMED_FENCE.sub(r"\1", markdown))


def outside_code(markdown: str) -> str:
    """Return the page with an empty line before each list, code blocks untouched."""
    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    parts[::2] = [_TEXT_THEN_LIST.sub(r"\1\n\n", part) for part in parts[::2]]
    return "".join(parts)
