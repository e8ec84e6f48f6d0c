"""DataPipe, built from its documentation and its source: conditions, data, staged saving.

Sources: https://pipe.jspsych.org/api-docs, and functions/ and database.rules.json of
jspsych/datapipe. jsPsych's own plugin runs against these addresses: benchmarks/store_clients.py.
"""

import itertools
import json
import re
import secrets
import threading
from dataclasses import dataclass, field
from pathlib import Path

from flask import Blueprint, Response, jsonify, request

from marketplace.stores.host import Faults, allow_all_origins, answer_instead, answer_or_fail

_LONGEST_TRIAL = 65_536
_MOST_TRIALS = 10_000
# The members that the database's rules let a page write; a page may read none.
_TRIAL = re.compile(r"trials/[0-9]{1,4}", re.ASCII)
_META = {"meta/startedAt", "meta/lastFlushAt", "meta/abandonedAt"}


@dataclass
class Experiment:
    """A DataPipe experiment, as set on its dashboard.

    Attributes:
        n_conditions: The number of conditions; 0 if assignment is off.
        most_sessions: The number of sessions after which data are refused; None for no limit.
        allows_staging: Whether single trials can be staged (saved before the session is complete).
    """

    n_conditions: int = 100
    most_sessions: int | None = None
    allows_staging: bool = True
    next_condition: int = 0
    n_sessions: int = 0
    staged: dict[str, dict[str, str]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)


class _Handlers:
    """The handlers of DataPipe's routes.

    Args:
        folder: The folder for data files.
        faults: The planned failures.
    """

    def __init__(self, folder: Path, faults: Faults) -> None:
        self.experiments: dict[str, Experiment] = {}
        self._folder, self._faults, self._lock = folder, faults, threading.Lock()

    def _read_request(self, *names: str) -> tuple[Experiment, list[str]] | Response:
        request_body = request.get_json(force=True, silent=True) or {}
        values = [str(request_body.get(name) or "") for name in ("experimentID", *names)]
        if not all(values):
            return _error_response("MISSING_PARAMETER")
        return self.experiments.setdefault(values[0], Experiment()), values[1:]

    def assign_condition(self) -> Response:
        """Return the next condition; every call uses one up."""
        kind = self._faults.next_failure()
        parsed = self._read_request()
        if (failed := answer_instead(kind)) is not None or isinstance(parsed, Response):
            return failed or parsed  # type: ignore[return-value]
        experiment, _ = parsed
        if not experiment.n_conditions:
            return _error_response("CONDITION_ASSIGNMENT_NOT_ACTIVE")
        with self._lock:
            condition = experiment.next_condition
            experiment.next_condition = (condition + 1) % experiment.n_conditions
        return answer_or_fail(kind, jsonify(message="Success", condition=condition))

    def store_file(self) -> Response:
        """Store a data file; each file name is accepted once."""
        kind = self._faults.next_failure()
        parsed = self._read_request("filename", "data")
        if (failed := answer_instead(kind)) is not None or isinstance(parsed, Response):
            return failed or parsed  # type: ignore[return-value]
        experiment, (name, text) = parsed
        most_sessions = experiment.most_sessions
        with self._lock:
            staged = str((request.get_json() or {}).get("sessionId", ""))
            if most_sessions is not None and experiment.n_sessions >= most_sessions:
                # A finished experiment stores nothing, not even staged trials.
                experiment.staged.pop(staged, None)
                return _error_response("SESSION_LIMIT_REACHED")
            if _data_path(self._folder, name).exists():
                return _error_response("FILE_EXISTS")
            _data_path(self._folder, name).write_text(text, encoding="utf-8", newline="\n")
            experiment.n_sessions += 1
            experiment.staged.pop(staged, None)
        answer = jsonify(message="Success")
        answer.status_code = 201
        return answer_or_fail(kind, answer)

    def start_staging(self) -> Response:
        """Start staging for a session."""
        kind = self._faults.next_failure()
        parsed = self._read_request()
        if (failed := answer_instead(kind)) is not None or isinstance(parsed, Response):
            return failed or parsed  # type: ignore[return-value]
        experiment, _ = parsed
        if not experiment.allows_staging:
            return Response("no staging", 503)
        if (
            experiment.most_sessions is not None
            and experiment.n_sessions >= experiment.most_sessions
        ):
            return _error_response("SESSION_LIMIT_REACHED")
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
        return answer_or_fail(kind, answer)

    def stage_trials(self, key: str) -> Response:
        """Stage trials of a session, all or none; existing trials are never overwritten."""
        kind = self._faults.next_failure()
        if (failed := answer_instead(kind)) is not None:
            return failed
        with self._lock:
            experiment = next(
                (candidate for candidate in self.experiments.values() if key in candidate.staged),
                None,
            )
            request_body = request.get_json(force=True)
            trials = {at: text for at, text in request_body.items() if _TRIAL.fullmatch(at)}
            sound = (
                all(
                    isinstance(text, str) and len(text) <= _LONGEST_TRIAL
                    for text in trials.values()
                )
                and request_body.keys() - trials.keys() <= _META
            )
            if experiment is None or not sound or trials.keys() & experiment.staged[key].keys():
                refused = jsonify(error="Permission denied")
                refused.status_code = 401
                return refused
            experiment.staged[key].update(trials)
        return answer_or_fail(kind, jsonify({}))


def create_datapipe(folder: Path, faults: Faults) -> Blueprint:
    """Return the DataPipe blueprint; unless configured, an experiment is created on first use."""
    pipe, handlers = Blueprint("datapipe", __name__), _Handlers(folder, faults)
    allow_all_origins(pipe)
    pipe.experiments = handlers.experiments  # type: ignore[attr-defined]
    pipe.add_url_rule(
        "/datapipe/api/condition/", view_func=handlers.assign_condition, methods=["POST"]
    )
    pipe.add_url_rule("/datapipe/api/data/", view_func=handlers.store_file, methods=["POST"])
    pipe.add_url_rule("/datapipe/api/session/", view_func=handlers.start_staging, methods=["POST"])
    pipe.add_url_rule(
        "/datapipe/database/staging/<key>.json", view_func=handlers.stage_trials, methods=["PATCH"]
    )
    return pipe


def write_partial_files(pipe: Blueprint, folder: Path) -> int:
    """Write the staged trials of unfinished sessions to files, as DataPipe does after a day.

    Returns:
        The number of partial files written.
    """
    file_numbers = itertools.count()
    for experiment in pipe.experiments.values():  # type: ignore[attr-defined]
        for key, trials in list(experiment.staged.items()):
            if trials:
                ordered_keys = sorted(trials, key=lambda at: int(at.partition("/")[2]))
                text = json.dumps([json.loads(trials[at]) for at in ordered_keys])
                name = experiment.names[key].removesuffix(".json")
                _data_path(folder, f"{name}.partial.json").write_text(
                    text, encoding="utf-8", newline="\n"
                )
                next(file_numbers)
            del experiment.staged[key]
    return next(file_numbers)


def _data_path(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder / name.replace("/", "_")


def _error_response(code: str) -> Response:
    answer = jsonify(error=code, message=code.replace("_", " ").capitalize())
    answer.status_code = 400
    return answer
