"""Whether a study names the people responsible; without that no real participant gets a link."""

from experiment.studies.study import Study
from webapp.errors import RunError


def refuse_unanswerable(study: Study) -> None:
    """Let pass only a study that tells people who answers for it.

    Raises:
        RunError: Its ``[study]`` leaves out a key; the message names each.
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
