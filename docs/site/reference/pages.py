"""Every generated page by its place in the site."""

from pathlib import Path

from reference.commands import command_pages
from reference.errors import error_pages
from reference.names import names_page
from reference.python_api import python_pages
from reference.settings import settings_page
from reference.study import study_page
from reference.tables import tables_page

ROOT = Path(__file__).parents[3]


def reference_pages() -> dict[str, str]:
    """Return the Markdown of every page that is made from the code."""
    folder = ROOT / "analysis" / "statistics"
    statistics = [f"analysis.statistics.{path.stem}" for path in sorted(folder.glob("[a-z]*.py"))]
    return {
        "reference/index.md": (Path(__file__).parent / "index.md").read_text(encoding="utf-8"),
        "reference/names.md": names_page(),
        "reference/settings.md": settings_page(),
        "reference/study.md": study_page(),
        "reference/tables.md": tables_page(),
        **dict(command_pages()),
        **dict(error_pages()),
        **dict(python_pages(statistics)),
    }
