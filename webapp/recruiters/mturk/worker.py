"""Simulated workers on a marketplace's pages, and the demonstration's steps with them."""

from urllib.parse import urlsplit

from experiment.studies.study import Study
from webapp.recruiters.demonstration import Demonstration, Stage, write_first_bonus
from webapp.recruiters.simulated_session import SiteSession


def _list_steps(stage: Stage) -> None:
    run = stage.run_ref
    stage.do("publish", run, "--yes")
    stage.do("simulate", run)
    stage.do("exclude", run)
    stage.do("approve", run, "--yes")
    stage.do("export", run, "--out", str(stage.place / "export"))
    stage.do("bonus", run, "--file", write_first_bonus(stage), "--yes")
    stage.do("recruitment", "status", run)
    stage.do("reconcile", run)


DEMONSTRATION = Demonstration("mturk", 'mturk_endpoint = "{site}"\n', _list_steps)


class WorkerSession(SiteSession):
    """A simulated worker, from the marketplace's list to the submitted assignment."""

    platform = "marketplace"

    def arrive(self) -> None:
        """Sign in, preview the study, accept it and consent to it in its frame."""
        worker_id = f"A{self._plan.run_ref.upper()}{self.number}"
        self._request_site(
            "POST", "/signin", {"worker_id": worker_id, **_make_profile(self._plan.study)}
        )
        tasks = self._find_study()
        accepted = self._request_site("POST", f"{tasks}/accept")
        assignment = self._request_site("GET", accepted.headers["location"])
        self._agree(str(assignment.json()["frame"]["address"]))

    def take_part(self) -> None:
        """Answer everything and submit the assignment."""
        closing = self._answer_everything()
        self._request_site("POST", closing.action, closing.hidden)
        self._site.close()

    def _find_study(self) -> str:
        """Preview the run's tasks in their frame and return the tasks' address."""
        for group in self._request_site("GET", "/projects").json()["groups"]:
            tasks = f"/projects/{group['group_id']}/tasks"
            frame = self._request_site("GET", tasks).json()["frame"]
            if frame and urlsplit(frame["address"]).path == f"/run/{self._plan.run_ref}":
                self._open(frame["address"], "consent")
                return tasks
        raise self._make_not_listed_error()


def _make_profile(study: Study) -> dict[str, str]:
    """Return the profile form of a worker who matches the study's audience."""
    terms = study.recruitment
    country = terms.countries[0] if terms and terms.countries else "US"
    profile = {"country": country, "approved_percent": "100", "approved_before": "10000"}
    return profile | ({"masters": "true"} if terms and terms.masters else {})
