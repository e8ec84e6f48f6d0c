"""Runs that are put aside, and programs that take part in a simulated one."""

import pytest

from webapp.jobs.long_jobs import Jobs
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database


def test_a_closed_run_goes_into_the_archive_and_comes_back(run, researcher, start):
    here, address = researcher(Role.RESEARCHER), f"/runs/{run.ref}"
    refused = here.post(f"{address}/archive")
    assert (refused.status_code, "Close it first" in refused.text) == (409, True)
    assert f'<a href="/researcher/runs/{run.ref}">The run as it is now</a>' in refused.text
    here.post(f"{address}/close")
    assert here.post(f"{address}/archive").status_code == 303
    assert run.ref not in here.get("/").text
    assert run.ref in here.get("/?archive=1").text
    assert "in the archive since" in here.get(address).text
    here.post(f"{address}/archive/out")
    assert run.ref in here.get("/").text and run.ref not in here.get("/?archive=1").text
    log = researcher(Role.OWNER).get("/audit").text
    assert "run archived" in log and "run taken out of the archive" in log


def test_programs_are_asked_to_take_part_in_a_simulated_run_alone(
    run, simulated_run, researcher, instance
):
    here = researcher(Role.RESEARCHER)
    assert here.post(f"/runs/{run.ref}/rehearsal", people="2").status_code == 409
    for wrong in ("", "0", "1001", "-1", "2.5", "x"):
        address = f"/runs/{simulated_run.ref}/rehearsal"
        refused = here.post(address, people=wrong)
        assert refused.status_code == 400
        assert "The number of programs must be from 1 to 1,000." in refused.text
    assert here.post(address, people="2").status_code == 303
    [job] = Jobs(instance).list_jobs(simulated_run.ref)
    assert list(job.steps[0].arguments[:4]) == [
        "simulate",
        simulated_run.ref,
        "--participants",
        "2",
    ]
    assert not job.makes_report
    page = here.get(f"/runs/{simulated_run.ref}/reports").text
    assert "2 programs" in page and "Cancel" in page
