"""benchmarks/three_sessions.py: every part is paid, and the statement is the platform's books."""

from pathlib import Path

from webapp.core.clock import utc_now

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_three_parts_with_dropouts_are_paid_and_stated_as_the_platform_booked_them(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import three_sessions

    with three_sessions.open_prolific_environment(tmp_path) as environment:
        # Commands have the machine's own clock.
        environment.clock.go_on(seconds=(utc_now() - environment.clock()).total_seconds())
        wrong = three_sessions.went(environment, 6)
    printed = capsys.readouterr().out
    assert wrong == 0, printed
    assert printed.count(" is clean: ") == 3
    assert printed.count("the same") == 3
