"""The commands, their arguments and their options, from the command line's own tree."""

from collections.abc import Iterator

import click

import parallax
from reference.markdown import code, plain, table


def command_pages() -> Iterator[tuple[str, str]]:
    """Yield a page for each heading of ``parallax --help``, and one that lists them."""
    root = click.Context(parallax.cli, info_name="parallax")
    lists = []
    for title, names in parallax.cli._sections.items():
        page = f"{title.lower()}.md"
        found = [each for name in names for each in _with_subcommands(root, parallax.cli, name)]
        lists.append(f"## {title}\n\n{_listed(page, found)}")
        text = "\n".join(_described(context) for context in found)
        yield f"reference/commands/{page}", f"# Commands: {title}\n\n{text}"
    introduction = (
        "# Commands\n\nEvery command of `parallax`, as its `--help` describes it. A mistake that"
        " you can mend ends with a message of one paragraph and exit status 2.\n"
    )
    yield "reference/commands/index.md", "\n".join([introduction, *lists])


def _with_subcommands(
    parent: click.Context, group: click.Group, name: str
) -> Iterator[click.Context]:
    command = group.get_command(parent, name)
    assert command is not None
    context = click.Context(command, info_name=name, parent=parent)
    if not isinstance(command, click.Group):
        yield context
        return
    for inner in command.list_commands(context):
        yield from _with_subcommands(context, command, inner)


def _listed(page: str, contexts: list[click.Context]) -> str:
    rows = [
        (
            f"[{code(each.command_path)}]({page}#{_anchor(each)})",
            plain(each.command.get_short_help_str(limit=1_000)),
        )
        for each in contexts
    ]
    return table(("Command", "What it does"), rows)


def _anchor(context: click.Context) -> str:
    return context.command_path.replace(" ", "-")


def _described(context: click.Context) -> str:
    command = context.command
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    records = [param.get_help_record(context) for param in command.get_params(context)]
    rows = [(code(name), plain(meaning)) for name, meaning in filter(None, records) if meaning]
    options = table(("Option", "Meaning"), rows) if len(rows) > 1 else ""
    return (
        f"## {context.command_path} {{ #{_anchor(context)} }}\n\n"
        f"```text\n{usage}\n```\n\n{_help(command.help or '')}\n\n{options}"
    )


def _help(text: str) -> str:
    """Return a help's paragraphs; one that Click leaves as it is stays so here."""
    paragraphs = []
    for paragraph in text.split("\n\n"):
        if paragraph.startswith("\b"):
            paragraphs.append(f"```text\n{paragraph.removeprefix(chr(8)).strip(chr(10))}\n```")
        else:
            paragraphs.append(plain(paragraph))
    return "\n\n".join(paragraphs)
