"""The table of commands and their pages is complete, and names nothing that is gone."""

from tests.documentation import researcher_commands


def test_every_command_has_its_page_or_a_reason_and_the_page_has_the_table():
    names = set(researcher_commands.commands())
    told = {name.removesuffix(" *") for name in researcher_commands.PAGES}
    groups = {name.split()[0] for name in names}
    pages = researcher_commands.PAGES.values()
    assert all(len(page.split()) > 5 for page in pages if page.startswith("none")), "no reason"
    assert not any(page.startswith("none yet") for page in pages)
    assert told <= names | groups, sorted(told - names - groups)
    assert researcher_commands.table() in researcher_commands.PAGE.read_text("utf-8"), (
        "python -m tests.documentation.researcher_commands"
    )
