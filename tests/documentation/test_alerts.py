"""The alerts ring where people are stuck, within five minutes, and at no other time.

Prometheus' own promtool plays the metrics of a fault to the rules. A fault begins after twenty
good minutes; the metrics are what the server counts then, a sample every 15 seconds. The rules are
evaluated every minute, which is Prometheus' own interval: an alert rings no sooner than there.
"""

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import yaml

from tests.prerequisites import PROMTOOL
from webapp import create_app
from webapp.commands.doctor.findings import Finding, Level, metrics_text

RULES = Path(__file__).parents[2] / "docs" / "deploy" / "alerts.yml"
DOCS = Path(__file__).parents[2] / "docs"
GOOD, BAD = 80, 24  # samples: twenty minutes, and six
REQUESTS = "parallax_requests_total"
Series = dict[str, str]


def counter(per_sample: float, then: float, start: float = 0) -> str:
    """A counter that grows at one pace, and at another once the fault began."""
    return f"{start}+{per_sample}x{GOOD} {start + per_sample * GOOD}+{then}x{BAD}"


def gauge(value: object, then: object) -> str:
    return f"{value}x{GOOD} {then}x{BAD}" if then != "gone" else f"{value}x{GOOD} _x{BAD}"


def requests(endpoint: str, status: int) -> str:
    return f'{REQUESTS}{{endpoint="{endpoint}",status="{status}"}}'


def people(**changes: object) -> Series:
    """Ten people at work, who answer twice a minute each; ``changes`` say what the fault does.

    Args:
        changes: The pace of answers, invitations, consents and pages per sample; ``refused`` of
            answers and ``status`` of these; ``working`` people.
    """
    to = {"answers": 5, "shown": 1, "consents": 0.5, "pages": 1.5, "working": 10, **changes}
    status = to.get("status", 503)
    return {
        requests("answers.save", 200): counter(5, to["answers"]),
        requests("consent.show", 200): counter(1, to["shown"]),
        requests("consent.decide", 303): counter(0.5, to["consents"]),
        requests("session.show", 200): counter(1.5, to["pages"]),
        requests("answers.save", status): counter(0, to.get("refused", 0)),
        requests("consent.show", status): counter(0, to.get("show_refused", 0)),
        requests("consent.decide", status): counter(0, to.get("decide_refused", 0)),
        requests("session.show", status): counter(0, to.get("page_refused", 0)),
        'parallax_participants{run="a",state="working"}': gauge(10, to["working"]),
        "parallax_database_up": gauge(1, to.get("database", 1)),
        "parallax_processes_started_total": counter(0, to.get("starts", 0), 2),
        "parallax_disk_free_bytes": gauge(9_000_000_000, to.get("room", 9_000_000_000)),
        "parallax_disk_free_files": gauge(90_000, to.get("names", 90_000)),
        "parallax_backup_age_seconds": f"3600+15x{GOOD + BAD}",
        **slow(bool(to.get("slow"))),
    }


def slow(now: bool) -> Series:
    name, fast = 'parallax_request_seconds_bucket{endpoint="answers.save",le=', 0 if now else 5
    return {
        f'{name}"0.05"}}': counter(5, fast),
        f'{name}"1.0"}}': counter(5, fast),
        f'{name}"5.0"}}': counter(5, 5),
        f'{name}"+Inf"}}': counter(5, 5),
        'parallax_request_seconds_count{endpoint="answers.save"}': counter(5, 5),
    }


class Fault(NamedTuple):
    """What happens, and the alert that is to ring."""

    alert: str
    series: Series


NOTHING = {"answers": 0, "shown": 0, "consents": 0, "pages": 0}
FAULTS = {
    "the web server in front is down": Fault("ParallaxNobodyAnswers", people(**NOTHING)),
    "the name leads elsewhere": Fault("ParallaxNobodyAnswers", people(**NOTHING, working=9)),
    "the certificate has ended": Fault("ParallaxNobodyAnswers", people(**NOTHING, working=10)),
    "the page's program fails to load": Fault(
        "ParallaxNobodyAnswers", people(answers=0, shown=1, consents=0.5, pages=5)
    ),
    "a content blocker's new list stops the page": Fault(
        "ParallaxNobodyAnswers", people(answers=0, pages=2)
    ),
    "the proxy cuts bodies": Fault(
        "ParallaxPageRefuses", people(answers=0, refused=5, status=400)
    ),
    "the proxy drops the Host": Fault(
        "ParallaxPageRefuses",
        people(**NOTHING, show_refused=2, page_refused=2, refused=4, status=400),
    ),
    "forms are taken for another site's": Fault(
        "ParallaxPageRefuses", people(consents=0, decide_refused=1, status=403)
    ),
    "the consent's button does nothing": Fault(
        "ParallaxNobodyBegins", people(consents=0, shown=3)
    ),
    "the keys are foreign": Fault(
        "ParallaxLinksRefused", people(answers=0, pages=0, refused=5, page_refused=2, status=401)
    ),
    "the platform's links lost their ids": Fault(
        "ParallaxPageRefuses", people(shown=0, consents=0, show_refused=2, status=400)
    ),
    "the platform's link names a run that is not here": Fault(
        "ParallaxPageRefuses", people(shown=0, consents=0, show_refused=2, status=404)
    ),
    "everybody counts as one client": Fault(
        "ParallaxPageRefuses", people(consents=0, decide_refused=2, status=429)
    ),
    "the database is away": Fault(
        "ParallaxDatabaseAway", people(answers=0, pages=0, refused=5, database=0)
    ),
    "the database is full of connections": Fault(
        "ParallaxUnavailable", people(answers=4, refused=1)
    ),
    "turn files belong to root": Fault(
        "ParallaxUnavailable", people(answers=0, consents=0, refused=5, decide_refused=1)
    ),
    "the disk is full": Fault("ParallaxDiskFull", people(answers=0, refused=5, room=4_000_000)),
    "no more files can be made": Fault("ParallaxDiskFull", people(answers=4, names=12)),
    "the server is gone": Fault(
        "ParallaxSilent",
        {name: text.partition(" ")[0] + " stale" for name, text in people().items()},
    ),
    "processes die again and again": Fault("ParallaxRestarts", people(answers=3, starts=2)),
    "a statement of the new version fails": Fault(
        "ParallaxErrors", people(answers=0, refused=5, status=500)
    ),
    "the disk of the database is slow": Fault("ParallaxSlow", people(answers=5, slow=True)),
}  # fmt: skip
QUIET = {
    "people at work": people(),
    "the night": {name: f"0x{GOOD + BAD}" for name in people() if name.startswith(REQUESTS)}
    | {"parallax_database_up": f"1x{GOOD + BAD}",
       "parallax_backup_age_seconds": f"3600+15x{GOOD + BAD}",
       'parallax_participants{run="a",state="working"}': f"0x{GOOD + BAD}"},
    "a run that fills and ends": people(**NOTHING, working=0),
    "the last one walks away": people(**NOTHING, working=1),
    "a reload": people(starts=0.25),
    "one bad answer in a hundred": people(refused=0.05, status=400),
    "a crowd": people(answers=50, shown=20, consents=18, pages=40, working=100),
}  # fmt: skip


def play(folder: Path, cases: list[dict[str, object]]) -> str:
    """Return what promtool says of the cases; empty where all are as expected."""
    test = {"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": cases}
    (folder / "test.yml").write_text(yaml.safe_dump(test), encoding="utf-8")
    command = [str(PROMTOOL.require()), "test", "rules", str(folder / "test.yml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def case(series: Series, minutes: tuple[int, ...], names: tuple[str, ...]) -> dict[str, object]:
    """Return a case of promtool's in which none of these alerts is expected."""
    given = [{"series": name, "values": values} for name, values in series.items()]
    asked = [
        {"eval_time": f"{minute}m", "alertname": name, "exp_alerts": []}
        for minute in minutes
        for name in names
    ]
    return {"interval": "15s", "input_series": given, "alert_rule_test": asked}


def alerts() -> list[dict]:
    return [r for g in yaml.safe_load(RULES.read_text())["groups"] for r in g["rules"]]


def test_people_who_are_stuck_ring_within_five_minutes(tmp_path):
    cases = [{"name": name, **case(f.series, (25,), (f.alert,))} for name, f in FAULTS.items()]
    # Nothing is expected, so that promtool tells what rang.
    said = play(tmp_path, cases)
    rang = set(re.findall(r"name: ([^,\n]+?),?\n\s*alertname[^[]*exp:\[\s*\],\s*got:\[\s*0:", said))
    assert len(FAULTS) >= 20
    assert set(FAULTS) - rang == set(), said


def test_nothing_rings_where_nobody_is_stuck(tmp_path):
    every = tuple(rule["alert"] for rule in alerts())
    cases = [{"name": name, **case(QUIET[name], (19, 22, 25), every)} for name in QUIET]
    assert play(tmp_path, cases) == ""


def test_the_rules_ask_for_metrics_and_pages_that_there_are(tmp_path):
    (tmp_path / "instance").mkdir(mode=0o700)
    app = create_app(tmp_path / "instance")
    asked = {name for rule in alerts() for name in re.findall(r"parallax_[a-z_]+", rule["expr"])}
    page = (DOCS / "serving.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"`(parallax_[a-z_]+)", page)) | {"parallax_doctor"}
    documented |= {f"parallax_request_seconds_{part}" for part in ("bucket", "count")}
    assert asked <= documented
    assert 'parallax_doctor{check="x"} 0' in metrics_text([Finding("x", Level.GOOD, "")])
    endpoints = {rule.endpoint for rule in app.url_map.iter_rules()}
    named = {e for r in alerts() for e in re.findall(r'endpoint!?="([a-z_.]+)"', r["expr"])}
    assert named <= endpoints
    groups = {g for r in alerts() for found in re.findall(r'endpoint=~"([^"]+)"', r["expr"])
              for g in re.findall(r"[a-z]{4,}", found)}  # fmt: skip
    assert groups <= {endpoint.partition(".")[0] for endpoint in endpoints}


def test_every_alert_leads_to_a_section_that_there_is():
    for rule in alerts():
        file, _, anchor = rule["annotations"]["runbook"].partition("#")
        headings = re.findall(r"^#+ (.+)$", (DOCS / file).read_text(encoding="utf-8"), re.MULTILINE)
        known = {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}
        assert anchor in known, rule["alert"]
