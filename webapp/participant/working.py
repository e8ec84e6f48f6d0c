"""The working page: instructions, practice and trials in one."""

from flask import render_template

from experiment.studies.study import Study
from experiment.trials.presentations import load_presentation
from webapp.flow.serve import Work
from webapp.participant.markdown import as_html


def working_page(study: Study, work: Work) -> str:
    """Return the page on which a participant works, or somebody only looks."""
    return render_template(
        "working.html",
        study=study,
        instructions=as_html(study.text("instructions")),
        presentation=load_presentation(study.presentation, study.trial.parameters),
        work=work,
    )
