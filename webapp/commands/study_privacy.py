"""``parallax study privacy``: drafts for a data protection officer."""

from pathlib import Path

import click

from experiment.studies.load import load_study
from experiment.tables.atomic_write import atomic_write
from webapp.errors import WebappError
from webapp.participant.data_notice import rights_notice, stored_data
from webapp.privacy.drafts import platform_of, privacy_drafts


@click.command()
@click.argument("study")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder to write to; without it, the documents are printed.",
)
def privacy(study: str, out: Path | None) -> None:
    """Draft STUDY's consent annex, record of processing and data flow.

    They are Markdown, from the study's own settings. What no setting tells stands in brackets.
    Files that stand there already are left alone.
    """
    loaded = load_study(study)
    stored = stored_data(loaded, known_to_platform=bool(platform_of(loaded)))
    drafts = privacy_drafts(loaded, [*stored, rights_notice()])
    if out is None:
        for text in drafts.values():
            click.echo(text)
        return
    if there := [name for name in drafts if (out / name).exists()]:
        raise WebappError(
            f"{', '.join(there)} already exist, and may have been completed by hand",
            where=str(out),
            expected="a folder without these files",
            remedy="Choose another folder, and compare the files",
        )
    for name, text in drafts.items():
        with atomic_write(out / name) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
        click.echo(out / name)
    click.echo("Complete the parts in brackets before you hand the documents on.")
