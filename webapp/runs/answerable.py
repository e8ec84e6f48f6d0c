"""Check that a study names its responsible persons; without them, real participants get no link."""

from experiment.studies.study import Study
from webapp.errors import RunError


def refuse_unanswerable(study: Study) -> None:
    """Check that a study tells participants who is responsible for it.

    Raises:
        RunError: The study's ``[study]`` table lacks a key; the message names each missing key.
    """
    missing = study.study.unnamed
    if missing:
        raise RunError(
            f'the study "{study.name}" does not say who is responsible for it:'
            f" study.toml lacks {', '.join(missing)}",
            expected="contact, institution and ethics under [study], which participants read",
            remedy=(
                "Fill them in, and launch the study again. Simulated runs and previews do "
                "not need them"
            ),
        )
