"""One run's page, whole or only the part that is live."""

from datetime import UTC, datetime

from flask import render_template

from webapp.database.engine import reading
from webapp.database.models import Run
from webapp.privacy.retention import erase_at, is_due
from webapp.projects.projects import name_of_project
from webapp.recruiters.base import PayingRecruiter
from webapp.researcher.charts import charts_said
from webapp.researcher.language import in_words, speak_to
from webapp.runs.notes import written_about
from webapp.runs.overview import overview
from webapp.runs.second_person import asked_acts
from webapp.runs.static_mark import static_mark
from webapp.runs.unblind import is_blind, unblinding_of
from webapp.services import current_services
from webapp.sessions.consent_texts import consent_texts
from webapp.sessions.lookup import find_run


def run_page(ref: str, problem: str = "") -> str:
    """Return the page of a run.

    Args:
        ref: The run's reference.
        problem: Why what was asked for was not done; empty where nothing was.
    """
    facts = _facts(ref)
    services, run = current_services(), facts["run"]
    assert isinstance(run, Run)
    with reading(services.sessions) as session:
        charts, charts_at = charts_said(session, run)
        facts |= {"charts": charts, "charts_at": charts_at, "blind": is_blind(session, run)}
        facts["written"] = written_about(session, run)
    return render_template("researcher/run.html", problem=problem, utc=_utc, **facts)


def _utc(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def live_part(ref: str, language: str = "") -> str:
    """Return the part of a run's page that changes while people take part.

    Args:
        ref: The run's reference.
        language: In which it is said; empty for the present request's.
    """
    if language:
        speak_to(language)
    return render_template("researcher/run_live.html", **_facts(ref))


def _facts(ref: str) -> dict[str, object]:
    services = current_services()
    with reading(services.sessions) as session:
        run = find_run(session, ref)
        study = services.study_of(session, run)
        recruiter = services.recruiter(run.recruiter)
        pays = isinstance(recruiter, PayingRecruiter)
        reward_minor = study.reward_minor if pays else 0
        found = overview(session, run, services.now(), reward_minor)
        return {
            "run": run,
            "project": name_of_project(session, run),
            "pays": pays,
            "serverless": static_mark(session, run) is not None,
            "study": study,
            "erase_at": erase_at(run, study),
            "overdue": is_due(run, study, services.now()),
            "overview": found,
            "hourly_minor": found.hourly_minor(reward_minor),
            "in_words": in_words,
            "unblinding": unblinding_of(session, run),
            "waiting": asked_acts(session, run, services.now()),
            "consent_texts": consent_texts(session, run),
            "invitation": recruiter.posted_link(services.settings.link_base, run.ref, study),
        }
