"""DataPipe, from its documentation and its functions: conditions, data, staged saving.

Sources: https://pipe.jspsych.org/api-docs, and the folder functions/ of jspsych/datapipe.
"""

import itertools
import json
import secrets
import threading
from dataclasses import dataclass, field
from pathlib import Path

from flask import Blueprint, Response, jsonify, request

from marketplace.stores.cors import open_to_all
from marketplace.stores.faults import Faults, after, before

_LONGEST_TRIAL = 65_536
_MOST_TRIALS = 10_000


@dataclass
class Experiment:
    """An experiment of the dashboard.

    Attributes:
        conditions: How many conditions there are; 0 where assignment is off.
        most_sessions: After how many no data are taken; None for any number.
        stages: Whether single trials can be staged.
    """

    conditions: int = 100
    most_sessions: int | None = None
    stages: bool = True
    next_condition: int = 0
    sessions: int = 0
    staged: dict[str, dict[str, str]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)


def datapipe(folder: Path, faults: Faults) -> Blueprint:
    """Return DataPipe; an experiment is made when it is first asked for, unless it is set."""
    pipe = Blueprint("datapipe", __name__)
    open_to_all(pipe)
    experiments: dict[str, Experiment] = {}
    pipe.experiments = experiments  # type: ignore[attr-defined]
    lock = threading.Lock()

    def asked(*names: str) -> tuple[Experiment, list[str]] | Response:
        sent = request.get_json(force=True, silent=True) or {}
        values = [str(sent.get(name) or "") for name in ("experimentID", *names)]
        if not all(values):
            return _error("MISSING_PARAMETER")
        return experiments.setdefault(values[0], Experiment()), values[1:]

    @pipe.post("/datapipe/api/condition/")
    def condition() -> Response:
        kind = faults.next()
        found = asked()
        if (failed := before(kind)) is not None or isinstance(found, Response):
            return failed or found  # type: ignore[return-value]
        experiment, _ = found
        if not experiment.conditions:
            return _error("CONDITION_ASSIGNMENT_NOT_ACTIVE")
        with lock:
            given = experiment.next_condition
            experiment.next_condition = (given + 1) % experiment.conditions
        return after(kind, jsonify(message="Success", condition=given))

    @pipe.post("/datapipe/api/data/")
    def data() -> Response:
        kind = faults.next()
        found = asked("filename", "data")
        if (failed := before(kind)) is not None or isinstance(found, Response):
            return failed or found  # type: ignore[return-value]
        experiment, (name, text) = found
        most = experiment.most_sessions
        with lock:
            if most is not None and experiment.sessions >= most:
                return _error("SESSION_LIMIT_REACHED")
            if _path(folder, name).exists():
                return _error("OSF_FILE_EXISTS")
            _path(folder, name).write_text(text, encoding="utf-8")
            experiment.sessions += 1
            staged = (request.get_json() or {}).get("sessionId", "")
            experiment.staged.pop(staged, None)
        answer = jsonify(message="Success")
        answer.status_code = 201
        return after(kind, answer)

    @pipe.post("/datapipe/api/session/")
    def session() -> Response:
        kind = faults.next()
        found = asked()
        if (failed := before(kind)) is not None or isinstance(found, Response):
            return failed or found  # type: ignore[return-value]
        experiment, _ = found
        if not experiment.stages:
            return Response("no staging", 503)
        key = secrets.token_urlsafe(12)
        experiment.staged[key] = {}
        experiment.names[key] = str(request.get_json().get("filename", key))
        answer = jsonify(
            sessionId=key,
            databaseURL=request.host_url + "datapipe/database",
            maxTrialBytes=_LONGEST_TRIAL,
            maxTrials=_MOST_TRIALS,
            flushEveryNTrials=10,
            flushIntervalMs=10_000,
        )
        return after(kind, answer)

    @pipe.patch("/datapipe/database/staging/<key>.json")
    def stage(key: str) -> Response:
        """Write below a session, whole or not at all; what is there is never written over."""
        kind = faults.next()
        if (failed := before(kind)) is not None:
            return failed
        with lock:
            experiment = next((each for each in experiments.values() if key in each.staged), None)
            sent = request.get_json(force=True)
            trials = {at: text for at, text in sent.items() if at.startswith("trials/")}
            sound = all(
                isinstance(text, str) and len(text) <= _LONGEST_TRIAL for text in trials.values()
            )
            if experiment is None or not sound or trials.keys() & experiment.staged[key].keys():
                refused = jsonify(error="Permission denied")
                refused.status_code = 401
                return refused
            experiment.staged[key].update(trials)
        return after(kind, jsonify({}))

    return pipe


def sweep(pipe: Blueprint, folder: Path) -> int:
    """Write what is staged of sessions that were never handed in, as the sweep does after a day.

    Returns:
        How many partial files were written.
    """
    written = itertools.count()
    for experiment in pipe.experiments.values():  # type: ignore[attr-defined]
        for key, trials in list(experiment.staged.items()):
            if trials:
                ordered = sorted(trials, key=lambda at: int(at.partition("/")[2]))
                text = json.dumps([json.loads(trials[at]) for at in ordered])
                name = experiment.names[key].removesuffix(".json")
                _path(folder, f"{name}.partial.json").write_text(text, encoding="utf-8")
                next(written)
            del experiment.staged[key]
    return next(written)


def _path(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder / name.replace("/", "_")


def _error(code: str) -> Response:
    answer = jsonify(error=code, message=code.replace("_", " ").capitalize())
    answer.status_code = 400
    return answer
