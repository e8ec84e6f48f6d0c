"""``parallax forget``, ``erase``, ``correct``, ``restrict``: participants' rights to their data.

``parallax study privacy`` drafts the answers for a data protection officer, from the study's
settings; facts that no setting holds are placeholders in brackets.
"""

import getpass
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import click
from jinja2 import Environment, PackageLoader, StrictUndefined
from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from experiment.studies.load import load_study
from experiment.studies.study import Study
from experiment.tables.atomic_write import atomic_write
from webapp.commands.options import add_instance_option, open_sessions, scrub_files
from webapp.core.clock import utc_now
from webapp.core.instance import open_instance
from webapp.database.engine import reading
from webapp.database.models import Participant, Run
from webapp.database.models.identity import sealer_of
from webapp.database.retry import run_in_transaction
from webapp.database.scrub import empty_log
from webapp.erasures.record import ErasureRecord
from webapp.errors import RunError, WebappError
from webapp.participant.data_notice import describe_device_data, describe_rights, list_stored_data
from webapp.payments.debts import Debt, describe_debts, find_debts
from webapp.privacy.amendments import correct_answers as correct_answers
from webapp.privacy.amendments import list_correctable_questions, release_use, restrict_use
from webapp.privacy.forget import Person, explain_unsettled_payments, find_person, forget_person
from webapp.runs.runs import find_named_run, load_launched_study
from webapp.sessions.leave import Wish, withdraw
from webapp.users.audit_log import record_act


@click.command("forget")
@click.argument("who")
@click.option(
    "--yes",
    is_flag=True,
    help="Do not ask for confirmation, except if the person is still owed money.",
)
@click.option(
    "--although-unpaid",
    is_flag=True,
    help="Do not ask about money that the person is still owed.",
)
@add_instance_option
def forget_(who: str, yes: bool, although_unpaid: bool, instance: Path) -> None:
    """Remove all data that identify WHO.

    WHO is a participant's reference, their own code, or a platform's id of them. Their answers
    are erased. Payments that must be kept for accounting no longer identify anybody. If an
    older backup is restored, they are forgotten again. A forgotten person can no longer be
    paid, so the command shows the amount still owed, and asks.
    """
    if not yes:
        click.confirm("This cannot be undone. Forget them?", abort=True)
    who, now = who.strip(), utc_now()
    sessions = open_sessions(instance)
    with reading(sessions) as session:
        unpaid = _describe_unpaid(session, find_person(session, who))
    if unpaid:
        click.echo(f"{unpaid}. Somebody who is forgotten can no longer be paid.")
        if not although_unpaid:
            click.confirm("Forget them all the same (as --although-unpaid says)?", abort=True)
    with sessions.begin() as session:
        person = find_person(session, who, change=True)
        if person.is_nobody:
            raise RunError(
                "no participant has that reference, code or id",
                expected="a participant's reference, their own code, or a platform's id of them",
            )
        refs = [
            (participant.ref, session.get_one(Run, participant.run_id).ref)
            for participant in person.participants
        ]
        record = ErasureRecord(open_instance(instance), sealer_of(session.get_bind().dialect))
        forget_person(session, person, now, record)
        details = {"participations": str(len(refs)), "payments kept": str(len(person.payments))}
        record_act(session, getpass.getuser(), "person forgotten", now, after=details)
    scrub_files(open_instance(instance))
    click.echo(
        f"Forgotten: {len(refs)} participation(s), {len(person.assignments)} assignment(s); "
        f"{len(person.payments)} ledger entries no longer identify anyone."
    )
    for ref, run in refs:
        click.echo(f"In exports of run {run} made earlier, delete the rows of participant {ref}.")


def _describe_unpaid(session: Session, person: Person) -> str:
    """Return what a person is still owed, or why their payment is not settled; empty if settled."""
    debts = list[Debt]()
    for participant in person.participants:
        debts += find_debts(session, session.get_one(Run, participant.run_id), [participant.id])
    return describe_debts(debts) or explain_unsettled_payments(person)


@click.command()
@click.argument("run")
@click.argument("code")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@add_instance_option
def erase(run: str, code: str, yes: bool, instance: Path) -> None:
    """Erase the data of the participant of RUN who has CODE.

    CODE is the code on their last page. Answers, times, devices and events are deleted for
    good; data needed to pay them remain. Earlier exports still contain their rows.
    """
    if not yes:
        click.confirm("This cannot be undone. Erase it?", abort=True)
    with open_sessions(instance).begin() as session:
        stored_run = find_named_run(session, run)
        participant = session.scalar(
            select(Participant)
            .where(Participant.run_id == stored_run.id, Participant.code == code.strip().lower())
            .with_for_update()
        )
        if participant is None:
            raise RunError(
                f'no participant of the run "{run}" has that code',
                expected="the code that a participant's last page showed them",
            )
        record = ErasureRecord(open_instance(instance), sealer_of(session.get_bind().dialect))
        withdraw(session, participant, Wish.ERASE, utc_now(), record)
        reference = participant.ref
    scrub_files(open_instance(instance))
    click.echo(f"Erased. In exports made earlier, delete the rows of participant {reference}.")


_reason_option = click.option(
    "--reason", required=True, help="How the participant asked for it; this is kept."
)


@click.command("correct")
@click.argument("who")
@click.argument("field")
@click.argument("value")
@_reason_option
@add_instance_option
def correct_(who: str, field: str, value: str, reason: str, instance: Path) -> None:
    """Replace WHO's answer to the question FIELD by VALUE.

    WHO is a participant's reference or their own code. The earlier answer is not kept. If an older
    backup is restored, it is corrected again.
    """

    def change(session: Session, run: Run, person: Participant, record: ErasureRecord) -> None:
        questions = list_correctable_questions(session, load_launched_study(session, run), person)
        names = [question.name for question in questions]
        if field not in names:
            raise RunError(
                f'the participant was asked no question "{field}"',
                expected=f"one of: {', '.join(names) or 'none, because they answered none'}",
            )
        correction, now = {field: value}, utc_now()
        if problems := correct_answers(session, person, questions, correction, now, record):
            raise RunError(f"the new answer to {field} cannot be stored: {problems[field]}")
        _log_act(session, run, person, "answer corrected", reason, field=field)

    _change_use(who, instance, change)
    click.echo(f"The answer to {field} is corrected. Exports made earlier still have the other.")


@click.command("restrict")
@click.argument("who")
@click.option("--lift", is_flag=True, help="Use the data again; tell the participant before.")
@_reason_option
@add_instance_option
def restrict_(who: str, lift: bool, reason: str, instance: Path) -> None:
    """Keep WHO's data without using them, until they allow it again.

    WHO is a participant's reference or their own code. Meanwhile, no export, rule, report or
    page has their answers. They can still be paid. The restriction also applies to restored
    backups.
    """

    def change(session: Session, run: Run, person: Participant, record: ErasureRecord) -> None:
        act, done = ("data used again", release_use) if lift else ("data restricted", restrict_use)
        if done(session, person, utc_now(), record):
            _log_act(session, run, person, act, reason)

    _change_use(who, instance, change)
    effect = "may be used again" if lift else "are stored and not used. Delete them in exports"
    click.echo(f"The participant's data {effect}.")


def _change_use(
    who: str, instance: Path, change: Callable[[Session, Run, Participant, ErasureRecord], None]
) -> None:
    def work(session: Session) -> None:
        named = or_(Participant.ref == who.strip(), Participant.code == who.strip().lower())
        person = session.scalar(select(Participant).where(named).with_for_update(of=Participant))
        if person is None:
            raise RunError(
                "no participant has that reference or code",
                expected="a participant's reference, or the code that only they were shown",
            )
        record = ErasureRecord(open_instance(instance), sealer_of(session.get_bind().dialect))
        change(session, session.get_one(Run, person.run_id), person, record)

    sessions = open_sessions(instance)
    run_in_transaction(sessions, work)
    empty_log(sessions.kw["bind"])


def _log_act(
    session: Session, run: Run, person: Participant, act: str, reason: str, **after: str
) -> None:
    details = {"participant": person.ref, **after, "reason": reason}
    record_act(session, getpass.getuser(), act, utc_now(), run_ref=run.ref, after=details)


@click.command()
@click.argument("name_or_folder", metavar="STUDY")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder to write to; without it, the documents are printed.",
)
def privacy(name_or_folder: str, out: Path | None) -> None:
    """Draft STUDY's consent annex, record of processing and data flow.

    The drafts are Markdown files, from the study's own settings. Parts that no setting provides
    are in brackets. Existing files are left unchanged.
    """
    study = load_study(name_or_folder)
    stored = list_stored_data(study, known_to_platform=bool(find_platform_name(study)))
    drafts = privacy_drafts(study, [*stored, describe_device_data(), describe_rights()])
    if out is None:
        for text in drafts.values():
            click.echo(text)
        return
    if existing_files := [name for name in drafts if (out / name).exists()]:
        raise WebappError(
            f"{', '.join(existing_files)} already exist, and may have been completed by hand",
            where=str(out),
            expected="a folder without these files",
            remedy="Choose another folder, and compare the files",
        )
    for name, text in drafts.items():
        with atomic_write(out / name) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
        click.echo(out / name)
    click.echo("Complete the parts in brackets before you hand the documents on.")


DRAFT_FILES = ("consent_annex.md", "record_of_processing.md", "data_flow.md")


def privacy_drafts(study: Study, stored: Iterable[str]) -> Mapping[str, str]:
    """Return each draft's text by its file's name.

    Args:
        study: The study.
        stored: The consent page's list of the data stored about participants.
    """
    pages = Environment(
        loader=PackageLoader("webapp", "templates/privacy"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    platform = find_platform_name(study)
    facts = {
        "study": study.study,
        "stored": list(stored),
        "questions": [*study.screening, *study.questionnaire],
        "identifying": list(study.privacy.identifying_questions),
        "days": study.privacy.keep_identifying_days,
        "platform": platform,
        "paid": study.recruitment is not None,
        "currency": study.currency,
        "places": study.design.n_places,
    }
    return {name: pages.get_template(name).render(facts) for name in DRAFT_FILES}


def find_platform_name(study: Study) -> str:
    """Return the recruiting platform that the study names; empty for none."""
    if study.panel is not None:
        return study.panel.preset or "[recruiting platform]"
    return "[recruiting platform]" if study.recruitment is not None else ""
