"""Refuse studies that need a server, naming the keys that need it."""

from collections.abc import Iterator
from pathlib import Path

from experiment.panels.panel import Panel
from experiment.panels.signing import names_in
from experiment.participation import Ending
from experiment.studies.study import Study
from webapp.errors import RunError
from webapp.recruiters.base import PayingRecruiter, Recruiter
from webapp.runs.launch import check_responsible_people
from webapp.serverless.folder import ARCHIVE_SUFFIX, PAGE_SUFFIXES


def check_needs_no_server(study: Study, recruiter: Recruiter, *, simulated: bool = False) -> None:
    """Raise an error unless the study works as static files.

    Raises:
        RunError: The study needs a server; the message names every key that needs it.
    """
    needs = list(_list_server_needs(study, recruiter))
    if needs:
        raise RunError(
            f'the study "{study.name}" cannot run as a folder of static pages, because '
            f"it needs a server: {'; '.join(needs)}",
            where=str(study.folder),
            remedy="Take these out of study.toml, or launch the study on a server; docs/static.md"
            " says what else differs",
        )
    if not simulated:
        check_responsible_people(study)


def _list_server_needs(study: Study, recruiter: Recruiter) -> Iterator[str]:
    if isinstance(recruiter, PayingRecruiter):
        yield (
            f"the recruiter {recruiter.name} reviews and pays through its platform"
            " (use --recruiter direct or panel)"
        )
    if study.attention is not None:
        yield "[attention] ends a session by what is good, which is not in the folder"
    if study.privacy.shared_device:
        yield "[privacy] shared_device keeps a finished session from the next person"
    if any(quota.participants_per_list for quota in study.design.quotas):
        yield "[[design.quotas]] participants_per_list counts over all sessions"
    if study.design.replace_excluded:
        yield "[design] replace_excluded gives an excluded participant's place to another"
    if study.trial.font == "noto":
        yield '[trial] font = "noto" fetches its letters (use a .woff2 file of the study)'
    if study.taking_part.assent:
        yield "[taking_part] assent is given after somebody else's consent, perhaps elsewhere"
    if study.recruitment is not None:
        for key in ("exclude_earlier_runs", "after"):
            if getattr(study.recruitment, key):
                yield f"[recruitment] {key} looks up who took part before"
    if study.panel is not None:
        yield from _list_panel_needs(study.panel)


def _list_panel_needs(panel: Panel) -> Iterator[str]:
    if panel.access_codes:
        yield "[panel] access_codes are looked up (use a link per participant)"
    if panel.signature is not None:
        yield "[panel] signature is checked with a secret"
    if panel.signatures:
        yield "[panel] signatures are made with a secret, for the way back to the panel"
    if panel.secrets:
        yield "[panel] secrets would be in the folder, where everybody can read them"
    ways = [(panel.way_back(ending), ending) for ending in Ending]
    if any(way.report for way, _ in ways):
        yield "[panel] an ending is reported from server to server"
    templates = [
        text
        for way, ending in ways
        for text in (panel.code(ending), panel.address_of(ending), *way.fields.values())
    ]
    if any("receipt" in names_in(text) for text in templates):
        yield "[panel] {receipt} proves to our server who left"


_LINKED_PAGES = ("methods.html", "checklist.html")


def read_publishable_report(path: Path, out: Path, *, simulated: bool) -> dict[str, bytes]:
    """Return a report that may be published next to a static study, with the pages that it links.

    The keys are the names of the files, the report's own first.

    Raises:
        RunError: People would answer the study, the study is a single file, or the report is not a
            page.
    """
    if not simulated:
        raise RunError(
            "a report says what was chosen and which version is good, and people could read it "
            "before they answer",
            where="--report",
            expected="--simulated: a folder for looking at, not for collecting people's answers",
        )
    if out.suffix.lower() in (ARCHIVE_SUFFIX, *PAGE_SUFFIXES):
        raise RunError(
            f"the name {out.name} makes one file, which has no room for a report",
            where="--report",
            expected="a folder",
            remedy="Give --out a name without an ending",
        )
    try:
        content = path.read_bytes()
    except OSError as error:
        raise RunError(
            f"the report cannot be read: {error.strerror}",
            where=str(path),
            expected="the report.html that `parallax compare` wrote",
        ) from error
    if path.suffix.lower() != ".html" or b"<html" not in content[:1000].lower():
        raise RunError(
            "the file is not an HTML page",
            where=str(path),
            expected="the report.html that `parallax compare` wrote",
        )
    linked = [path.parent / name for name in _LINKED_PAGES if f'href="{name}"'.encode() in content]
    pages = {page.name: page.read_bytes() for page in linked if page.is_file()}
    return {"report.html": content} | pages
