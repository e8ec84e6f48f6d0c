"""Long jobs: done step by step, ended when asked, and nothing kept but what they made."""

import sys
import threading
from datetime import UTC, datetime, timedelta

import pytest

from webapp.jobs import long_job_queue
from webapp.jobs.long_job_queue import do_job
from webapp.jobs.long_jobs import LOST_AFTER, Jobs, JobState, Step

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def jobs(tmp_path, monkeypatch) -> Jobs:
    """The jobs of an installation whose commands are Python texts."""
    monkeypatch.setattr(
        long_job_queue, "parallax_command", lambda *words: [sys.executable, "-c", *words]
    )
    return Jobs(tmp_path)


def job_of(jobs, *texts: str):
    return jobs.add("run", "a job", "anna", NOW, [Step("a step", (text,)) for text in texts])


def test_a_job_keeps_what_it_made_and_nothing_that_it_needed(jobs, tmp_path):
    answers = "open(r'{folder}/answers', 'w').write('secret')"
    makes = "import os; os.mkdir(r'{folder}/report'); open(r'{folder}/report/a', 'w')"
    job = job_of(jobs, answers, makes)
    assert do_job(tmp_path, job.id, lambda: NOW) is JobState.DONE
    assert {path.name for path in jobs.folder(job.id).iterdir()} == {"report", "job.json"}
    assert do_job(tmp_path, job.id, lambda: NOW) is JobState.DONE
    assert jobs.list_jobs("run") == [jobs.find(job.id)] and jobs.list_jobs("other") == []


def test_a_step_that_fails_ends_the_job_and_says_why_without_the_server_s_paths(jobs, tmp_path):
    job = job_of(jobs, f"print(r'{tmp_path}/x is wrong'); raise SystemExit(2)", "never")
    assert do_job(tmp_path, job.id, lambda: NOW) is JobState.FAILED
    assert jobs.find(job.id).text.strip() == "x is wrong"


def test_a_cancelled_job_ends_while_its_command_is_at_work(jobs, tmp_path):
    job = job_of(jobs, "import time; open(r'{folder}/begun', 'w'); time.sleep(600)")
    ended = []
    doing = threading.Thread(target=lambda: ended.append(do_job(tmp_path, job.id, lambda: NOW)))
    doing.start()
    while not (jobs.folder(job.id) / "begun").exists():
        threading.Event().wait(0.02)
    jobs.cancel(job.id)
    doing.join(60)
    assert ended == [JobState.CANCELLED]
    assert not (jobs.folder(job.id) / "begun").exists()


def test_a_job_keeps_whose_answers_it_exported(jobs, tmp_path):
    rows = "participant,position\\nanna,1\\nanna,2\\nben,1\\n"
    exports = (
        "import os; os.mkdir(r'{folder}/run');"
        f" open(r'{{folder}}/run/responses.csv', 'w').write('{rows}')"
    )
    job = job_of(jobs, exports, "pass")
    assert jobs.read_marks(job.id) is None
    assert do_job(tmp_path, job.id, lambda: NOW) is JobState.DONE
    assert jobs.read_marks(job.id) == {"anna", "ben"}
    assert not (jobs.folder(job.id) / "run").exists()


def test_a_job_that_is_removed_ends_and_leaves_nothing(jobs, tmp_path):
    text = (
        "import os, shutil, time; shutil.rmtree(r'{folder}');"
        " os.mkdir(r'{folder}'); open(r'{folder}/more', 'w').write('of somebody')"
    )
    job = job_of(jobs, text, "pass")
    assert do_job(tmp_path, job.id, lambda: NOW) is JobState.CANCELLED
    assert not jobs.folder(job.id).exists()


def test_a_job_whose_server_died_is_lost_and_one_that_was_never_there_is_unknown(jobs):
    job = job_of(jobs, "pass")
    at_work = jobs.change(job.id, state=JobState.WORKING, alive_at=NOW.isoformat())
    assert not at_work.is_lost(NOW + LOST_AFTER)
    assert at_work.is_lost(NOW + LOST_AFTER + timedelta(seconds=1))
    for unknown in ("", "../x", "nothing"):
        with pytest.raises(KeyError):
            jobs.find(unknown)
