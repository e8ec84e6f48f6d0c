"""Who answers to living people: without a name, an institution and an ethics reference, nobody."""

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
            f'the study "{study.name}" does not tell people who answers for it:'
            f" study.toml names no {', no '.join(missing)}",
            expected="contact, institution and ethics under [study], which participants read",
            remedy="Write them, and launch the study again. Simulated runs and previews go without",
        )
