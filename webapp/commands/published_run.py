"""The platform on which a command finds a run."""

from dataclasses import dataclass
from pathlib import Path

from experiment.studies.study import Study
from webapp.commands.options import open_sessions
from webapp.commands.runs import link_base
from webapp.database.engine import Sessions, reading
from webapp.recruiters.platform import Platform
from webapp.recruiters.registry import load_recruiter, open_platform
from webapp.recruiters.settings import load_settings
from webapp.recruitment.publish import recruitment_hits, recruitment_of
from webapp.recruitment.terms import refuse_other_owner
from webapp.runs.runs import named_run, study_as_launched


@dataclass(frozen=True, slots=True)
class PublishedRun:
    """A run and its platform.

    Attributes:
        sessions: The installation's.
        platform: Where its people are found.
        ref: The run.
        study: Its study.
        link: The address that its people are shown.
        offers: The ids of its offers there; empty before it was published.
    """

    sessions: Sessions
    platform: Platform
    ref: str
    study: Study
    link: str
    offers: tuple[str, ...]


def open_published(instance: Path, run_ref: str, *, live: bool) -> PublishedRun:
    """Return a run and its platform, which is asked whose account it is if the run is there.

    Raises:
        RunError: There is no such run, its recruiter pays nobody, or it was published from another
            account than the settings choose.
        PlatformError: The platform cannot be asked.
        WebappError: The platform is live and the command does not say so.
    """
    sessions = open_sessions(instance)
    with reading(sessions) as session:
        run = named_run(session, run_ref)
        study = study_as_launched(session, run)
        offers = [hit.platform_id for hit in recruitment_hits(session, run)]
        where_it_is = recruitment_of(session, run)
    settings = load_settings(instance)
    platform = open_platform(run.recruiter, settings, live=live)
    refuse_other_owner(run, where_it_is, platform)
    link = load_recruiter(run.recruiter, settings).invitation(link_base(instance), run.ref)
    return PublishedRun(sessions, platform, run.ref, study, link, tuple(filter(None, offers)))
