"""The main job's steps at a local marketplace."""

from webapp.recruiters.demonstration import Demonstration, Stage, bonus_for_the_first


def _steps(stage: Stage) -> None:
    run = stage.run_ref
    stage.do("publish", run, "--yes")
    stage.do("simulate", run)
    stage.do("exclude", run)
    stage.do("approve", run, "--yes")
    stage.do("export", run, "--out", str(stage.place / "export"))
    stage.do("bonus", run, "--file", bonus_for_the_first(stage), "--yes")
    stage.do("recruitment", "status", run)
    stage.do("reconcile", run)


DEMONSTRATION = Demonstration("mturk", 'mturk_endpoint = "{site}"\n', _steps)
