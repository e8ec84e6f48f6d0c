"""The power of a study, asked for on a page and simulated beside the server."""

import pytest

from webapp.jobs.long_jobs import Jobs, JobState, remove_outdated_reports
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database


@pytest.fixture
def here(researcher):
    return researcher(Role.RESEARCHER)


def test_a_study_is_simulated_and_the_table_and_figure_are_read(here, instance, app, browser):
    asked = {"study": "minimal", "per_list": "20, 5,5", "simulations": "10", "difference": ".1"}
    assert here.post("/studies/power", **asked).status_code == 303
    [job] = Jobs(instance).list_all()
    words = list(job.steps[0].arguments)
    assert words[words.index("--per-list") + 1] == "5,20"
    assert words[-2] == "--" and words[-1].endswith("minimal")
    assert "waiting" in here.get("/studies/power?study=minimal").text
    made = Jobs(instance).folder(job.id) / "report"
    made.mkdir()
    (made / "power.txt").write_text("| participants | power |", encoding="utf-8")
    (made / "power.svg").write_text("<svg/>", encoding="utf-8")
    Jobs(instance).change(job.id, state=JobState.DONE)
    remove_outdated_reports(app.extensions["parallax"])  # it is about no person
    of_job = f"study=minimal&job={job.id}"
    assert "| participants | power |" in here.get("/studies/power?study=minimal").text
    with here.get(f"/studies/power/figure?{of_job}") as figure:
        assert figure.data == b"<svg/>"
    with here.get(f"/studies/power/download?{of_job}") as archive:
        assert archive.status_code == 200
    assert here.get(f"/studies/power/figure?study=blimp&job={job.id}").status_code == 404
    here.post("/studies/power/cancel", study="minimal", job=job.id)
    assert list(Jobs(instance).list_all()) == []


def test_a_norm_has_a_table_and_no_figure(here, instance):
    here.post("/studies/power", study="minimal", per_list="5", simulations="10")
    [job] = Jobs(instance).list_all()
    made = Jobs(instance).folder(job.id) / "report"
    made.mkdir()
    (made / "norm.txt").write_text("for each text", encoding="utf-8")
    Jobs(instance).change(job.id, state=JobState.DONE)
    page = here.get("/studies/power?study=minimal").text
    assert "for each text" in page and "<img" not in page


@pytest.mark.parametrize(
    "wrong",
    [
        {"per_list": ""},
        {"per_list": "0"},
        {"per_list": "5,x"},
        {"per_list": "1,2,3,4,5,6,7"},
        {"per_list": "201"},
        {"simulations": "1"},
        {"simulations": "1001"},
        {"simulations": "9" * 5000},
        {"per_list": "9" * 5000},
        {"difference": "much"},
        {"difference": "nan"},
        {"study": "nothing"},
    ],
)
def test_what_cannot_be_simulated_is_told(wrong, here, instance):
    asked = {"study": "minimal", "per_list": "5", "simulations": "10"} | wrong
    assert here.post("/studies/power", **asked).status_code in (400, 404)
    assert list(Jobs(instance).list_all()) == []
