"""``parallax import sessions``: the stored sessions of a static study become a run."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import click
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.design.frames import CHANCE, COUNTER, difference, expected_imbalance
from experiment.participation import State
from experiment.seeds import generator
from webapp.commands.options import open_sessions, with_instance
from webapp.core.instance import open_instance
from webapp.database.models import Participant, Run
from webapp.database.models.identity import sealer_of
from webapp.erasures.record import Record
from webapp.errors import RunError
from webapp.runs.runs import StaticMark, static_runs, study_as_launched
from webapp.serverless.replay import Replay, Replayed, began
from webapp.serverless.session_files import Entry, Gathered, gather

_SHOWN = 5


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@with_instance
def sessions(paths: tuple[Path, ...], instance: Path) -> None:
    """Read the session files of a static study into its run.

    PATHS are files, folders, or archives of results of JATOS. The same files may be given again,
    with others: what is known already is not added twice, and withdrawals are obeyed.
    """
    gathered = gather(paths)
    by_folder: dict[str, dict[str, list[Entry]]] = defaultdict(dict)
    for (folder, name), entries in gathered.sessions.items():
        by_folder[folder][name] = entries
    opened = open_sessions(instance)
    with opened() as session:
        runs = {mark.folder: (run, mark) for run, mark in static_runs(session)}
        unknown = {folder: of for folder, of in by_folder.items() if folder not in runs}
        if not by_folder.keys() & runs.keys():
            raise RunError(
                "the sessions are of no folder that was written here:"
                f" {', '.join(sorted(unknown)) or 'none of them is as a page wrote it'}",
                where=", ".join(map(str, paths)),
                expected=f"one of: {', '.join(runs) or 'none yet'}",
                remedy="Write the same folder again, from the same study with the same seed and"
                " options: parallax study static",
            )
        note = Record(open_instance(instance), sealer_of(session.get_bind().dialect))
        lines = _account(gathered, unknown)
        for folder in sorted(by_folder.keys() & runs.keys()):
            run, mark = runs[folder]
            replay = Replay(session, run, study_as_launched(session, run), mark, note)
            ordered = sorted(by_folder[folder].items(), key=lambda item: (began(item[1]), item[0]))
            replayed = [replay.add(name, entries) for name, entries in ordered]
            lines += _told(session, run, mark, replay, replayed)
        session.commit()
    click.echo("\n".join(lines))


def _account(gathered: Gathered, unknown: dict[str, dict[str, list[Entry]]]) -> list[str]:
    """Return the report on the files."""
    n_entries = sum(map(len, gathered.sessions.values()))
    lines = [f"{gathered.files} files: {n_entries} entries of {len(gathered.sessions)} sessions."]
    if gathered.repeated:
        lines.append(f"{gathered.repeated} entries came more than once, and count once.")
    for name, why in list(gathered.unreadable.items())[:_SHOWN]:
        lines.append(f"Left out, {name}: {why}.")
    if len(gathered.unreadable) > _SHOWN:
        lines.append(f"... and {len(gathered.unreadable) - _SHOWN} more files.")
    for name, number in gathered.strange.items():
        lines.append(f"{name}: {number} parts are nothing that a page wrote.")
    for name, number in gathered.changed.items():
        lines.append(
            f"Session {name}: {number} entries are not as the browser wrote them, and are left out."
        )
    for folder, of_it in unknown.items():
        lines.append(
            f"Left out, {len(of_it)} sessions of the folder {folder}, which was not written here."
        )
    return lines


def _told(
    session: Session, run: Run, mark: StaticMark, replay: Replay, replayed: list[Replayed]
) -> list[str]:
    """Return the report on a run."""
    states = Counter(each.participant.state for each in replayed if each.participant is not None)
    counts = ", ".join(f"{number} {state}" for state, number in sorted(states.items()))
    lines = [f"Run {run.ref} of {run.study} (folder {mark.folder}): {counts or 'nobody'}."]
    for each in replayed:
        lines += [f"Session {each.session}: {problem}" for problem in each.problems[:_SHOWN]]
        if each.missing > 0:
            lines.append(f"Session {each.session}: {each.missing} entries are not in the files.")
    drawn = Counter(each.number for each in replayed if each.number is not None)
    if again := sorted(number for number, times in drawn.items() if times > 1):
        lines.append(f"{len(again)} sessions were given to several people: {_few(again)}.")
    gaps = [number for number in range(1, max(drawn, default=0)) if number not in drawn]
    if gaps and mark.assignment == "counter":
        lines.append(f"{len(gaps)} numbers below the highest are of nobody here: {_few(gaps)}.")
    by_chance = any(each.by == CHANCE for each in replayed)
    return [*lines, _imbalance(session, run, CHANCE if by_chance else COUNTER, replay)]


def _few(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:_SHOWN])) + (" ..." if len(numbers) > _SHOWN else "")


def _imbalance(session: Session, run: Run, assignment: str, replay: Replay) -> str:
    rows = session.execute(
        select(Participant.list, func.count())
        .where(Participant.run_id == run.id, Participant.state == State.FINISHED)
        .group_by(Participant.list)
    )
    finished = {int(list_): int(number) for list_, number in rows if list_ is not None}
    placed = session.execute(
        select(func.count()).where(Participant.run_id == run.id, Participant.list.is_not(None))
    ).scalar_one()
    n_lists, total = replay.study.design.n_lists, sum(finished.values())
    measured = difference(finished, n_lists)
    if not placed:
        return "Nobody has begun."
    dropout = 1 - total / placed
    rng = generator(run.seed, "imbalance", placed)
    expected = expected_imbalance(n_lists, placed, min(dropout, 0.99), assignment, rng)
    return (
        f"Lists: the fullest has {measured} participants more than the emptiest. Expected of"
        f" {placed} who begin, {dropout:.0%} of whom do not finish: {expected.mean:.1f}"
        f" ({expected.low} to {expected.high})."
    )
