"""``parallax integrity`` and ``summarise``: how plausible the sessions of a run are."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from experiment.integrity.certificate import Certificate
from experiment.integrity.humanness import HumannessScore, load_rates
from experiment.integrity.replays import FEWEST_SESSIONS, ReplayPair
from experiment.studies.humanness import Rates
from experiment.tables.files import text_table
from webapp.commands.options import add_instance_option, open_sessions
from webapp.database.engine import reading
from webapp.jobs.housekeeping import summarise_run as sessions_summarised
from webapp.runs.blinding import is_blind
from webapp.runs.integrity import find_run_replays, get_flags, make_certificates, score_humanness
from webapp.runs.runs import find_named_run, load_launched_study

_HEADER = (
    "participant", "answers", "claimed s", "passed s", "mismatch", "devices", "shown again",
    "hidden", "score", "flags",
)  # fmt: skip


@click.command()
@click.argument("run")
@click.option("--all", "everybody", is_flag=True, help="Also list participants without a flag.")
@click.option("--json", "as_json", is_flag=True, help="Print every measurement, as JSON.")
@click.option(
    "--replays",
    "seeks_replays",
    is_flag=True,
    help="Also compare all sessions pair by pair: do two share times or pointer paths?",
)
@click.option(
    "--other",
    "others",
    metavar="RUN",
    multiple=True,
    help="Also compare the sessions with those of this run; may be repeated.",
)
@add_instance_option
def integrity(
    run: str,
    everybody: bool,
    as_json: bool,
    seeks_replays: bool,
    others: tuple[str, ...],
    instance: Path,
) -> None:
    """Show which sessions of RUN look like a program's.

    Evidence, never a verdict: a flag excludes nobody, and decides nothing about pay.
    """
    with reading(open_sessions(instance)) as session:
        found_run = find_named_run(session, run)
        study = load_launched_study(session, found_run)
        certified = [
            (person.ref, certificate, get_flags(found_run, certificate))
            for person, certificate in make_certificates(session, found_run, study)
        ]
        # The right answers are not revealed before the run is unblinded.
        blind = is_blind(session, found_run)
        of_block = [] if blind else list(score_humanness(session, found_run, study))
        rates = load_rates(study)
        pairs: list[ReplayPair] = []
        if seeks_replays or others:
            other_refs = [ref for ref in dict.fromkeys(others) if ref != run]
            other_runs = [find_named_run(session, ref) for ref in other_refs]
            pairs = find_run_replays(session, found_run, other_runs)
    by_ref = dict(of_block)
    if as_json:
        records = [
            {
                "participant": ref,
                **asdict(certificate),
                "signals": dict(certificate.signals),
                "flags": flags,
                **({"humanness": asdict(by_ref[ref])} if ref in by_ref else {}),
                **({"replays": _list_replays(ref, pairs)} if seeks_replays or others else {}),
            }
            for ref, certificate, flags in certified
        ]
        click.echo(json.dumps(records, indent=2))
        return
    shown_sessions = [
        _make_row(ref, certificate, flags)
        for ref, certificate, flags in certified
        if flags or everybody
    ]
    if shown_sessions:
        click.echo(text_table(_HEADER, shown_sessions))
    n_flagged = sum(bool(flags) for *_, flags in certified)
    click.echo(f"{n_flagged} of {len(certified)} sessions with answers are flagged.")
    if found_run.simulated:
        click.echo("This run is for simulated participants, so none is flagged.")
    if study.humanness and blind:
        click.echo("The humanness block is shown once the run is unblinded.")
    if seeks_replays or others:
        _show_replays(pairs, len(certified))
    if of_block:
        _warn_about_block(of_block, rates)


def _list_replays(ref: str, pairs: Sequence[ReplayPair]) -> list[dict[str, object]]:
    return [asdict(pair) for pair in pairs if ref in (pair.first, pair.second)]


def _show_replays(pairs: Sequence[ReplayPair], n_sessions: int) -> None:
    """Print the pairs of sessions that are too similar to come from two people."""
    if not pairs:
        shared = "pointer paths" if n_sessions < FEWEST_SESSIONS else "times or their pointer paths"
        click.echo(f"\nNo two sessions share their {shared}.")
    if n_sessions < FEWEST_SESSIONS:
        click.echo(
            f"Times were not compared: that needs {FEWEST_SESSIONS} sessions with answers, and"
            f" the run has {n_sessions}."
        )
    if not pairs:
        return
    click.echo("\nSessions that are too similar to come from two people:")
    header = ("session", "and", "answers", "correlation", "people's limit", "same paths", "of")
    click.echo(
        text_table(
            header,
            [
                (
                    pair.first,
                    pair.second,
                    pair.n_answers or "",
                    "" if pair.correlation is None else f"{pair.correlation:.3f}",
                    "" if pair.limit is None else f"{pair.limit:.3f}",
                    pair.n_same_paths,
                    pair.n_paths,
                )
                for pair in pairs
            ],
        )
    )
    click.echo(
        "One of two may be the replay of the other. Evidence, never a verdict: it excludes nobody."
    )


def _warn_about_block(scores: Sequence[tuple[str, HumannessScore]], rates: Rates | None) -> None:
    """Print the answers to the humanness block, with the published rates if there are any."""
    header = ("participant", "passed", "of", "rated", "failed", "people", "programs", "nats")
    click.echo("\nThe humanness block:")
    click.echo(text_table(header, [_block_row(ref, score) for ref, score in scores]))
    if rates is None:
        click.echo(
            "The study names no published rates, so the block says nothing about whether people"
            " answered."
        )
        return
    click.echo(
        "people, programs: the published shares with so many failures or more. nats: the sum of the"
        f" log ratios item by item, above 0 for programs.\nPublished by: {rates.source}."
        + (f"\n{rates.note}" if rates.note else "")
        + "\nEvidence by other people's rates, never a verdict: it excludes nobody."
    )


def _block_row(ref: str, score: HumannessScore) -> tuple[object, ...]:
    def share(value: float | None) -> str:
        return "" if value is None else f"{value:.1%}"

    return (
        ref,
        score.n_passed,
        len(score.answers),
        score.n_rated,
        score.n_failed,
        share(score.people_as_low),
        share(score.programs_as_low),
        "" if score.nats is None else f"{score.nats:+.1f}",
    )


def _make_row(ref: str, certificate: Certificate, flags: dict[str, str]) -> tuple[object, ...]:
    return (
        ref,
        certificate.n_answers,
        f"{certificate.claimed_ms / 1000:.0f}",
        "" if certificate.elapsed_ms is None else f"{certificate.elapsed_ms / 1000:.0f}",
        "" if certificate.mismatch_share is None else f"{certificate.mismatch_share:.0%}",
        certificate.n_devices,
        certificate.n_shown_again,
        certificate.n_hidden,
        "" if certificate.agent_likelihood is None else f"{certificate.agent_likelihood:.2f}",
        " ".join(flags),
    )


@click.command()
@click.argument("run")
@add_instance_option
def summarise(run: str, instance: Path) -> None:
    """Update the summaries by which researcher pages sort RUN's participants.

    A periodic job does it when there are new answers. It changes no answer and no verdict.
    """
    sessions = open_sessions(instance)
    with reading(sessions) as session:
        find_named_run(session, run)
    n = sessions_summarised(sessions, run, load_launched_study, datetime.now(UTC))
    click.echo(f"{n} sessions with answers are summarised.")
