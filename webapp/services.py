"""The installation's services for requests, created once in ``create_app``."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import cast

from flask import Flask, current_app, request
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from experiment.responses.base import ResponseType
from experiment.responses.registry import response_of
from experiment.studies.study import Study
from webapp.core.addresses import AddressResolver
from webapp.core.clock import Clock
from webapp.core.settings import Settings
from webapp.core.tokens import Tokens
from webapp.database.engine import Sessions, make_sessions, reading
from webapp.database.file_systems import WriteTrial
from webapp.database.models import Participant, Run
from webapp.database.models.identity import sealer_of
from webapp.erasures.record import ErasureRecord
from webapp.errors import RequestError
from webapp.recruiters.base import Recruiter
from webapp.recruiters.registry import load_recruiter
from webapp.runs.runs import load_launched_study
from webapp.sessions.arrival_limits import Refusals
from webapp.sessions.collected import Collected, collected_of, list_uncollected_fields
from webapp.sessions.record_batch import Batcher, SentAnswer, record_in_one_transaction
from webapp.users.oidc import Provider

EXTENSION = "parallax"


class Services:
    """The installation's services.

    Args:
        settings: The installation's settings.
        engine: Its database.
        tokens: The signer of participants' links.
        now: The installation's clock.
        instance: The instance folder.
    """

    def __init__(
        self, settings: Settings, engine: Engine, tokens: Tokens, now: Clock, instance: Path
    ) -> None:
        self.settings = settings
        self.engine = engine
        self.sessions: Sessions = make_sessions(engine)
        self.tokens = tokens
        self.now = now
        self.instance = instance
        self.record = ErasureRecord(instance, sealer_of(engine.dialect))
        self.addresses = AddressResolver(settings.trusted_proxies.split())
        self.refusals = Refusals()
        # Rendered texts and pages that all participants of a run share, each with its study.
        self.rendered: dict[tuple[object, ...], tuple[Study, str]] = {}
        self.write_trial = WriteTrial(engine, instance)
        self._types: dict[int, ResponseType] = {}
        self._collected: dict[int, Collected] = {}
        self.answers = Batcher[SentAnswer, int | None](
            partial(record_in_one_transaction, engine, settings.session_days, self._types)
        )
        self._studies: dict[int, Study] = {}
        self._recruiters: dict[str, Recruiter] = {}
        self._recruiter_names: dict[str, str] = {}
        # How many people each run had in each state when its stopping rule was last asked.
        self.asked_rules: dict[int, frozenset[tuple[str, int]]] = {}
        self._provider: Provider | None = None

    def study_for(self, session: Session, run: Run, participant: Participant) -> Study:
        """Return the run's study as one participant sees it, with the pages of their levels."""
        return self.study_of(session, run).of_list(participant.list)

    def study_of(self, session: Session, run: Run) -> Study:
        """Return the run's study, which is read from the database once.

        Raises:
            RunError: The study's files are not in the database.
        """
        if run.id not in self._studies:
            self._studies[run.id] = load_launched_study(session, run)
        return self._studies[run.id]

    def response_of(self, session: Session, run: Run) -> ResponseType:
        """Return the response type of the run's trials, which is looked up once.

        Raises:
            ParallaxError: The study's files are not in the database, or name no response type.
        """
        if (known_type := self._types.get(run.id)) is not None:
            return known_type
        response_type = response_of(self.study_of(session, run))
        if not list_uncollected_fields(self.collected_of(session, run), response_type):
            # Only such runs are recorded in batches, because a batch stores every field.
            self._types[run.id] = response_type
        return response_type

    def collected_of(self, session: Session, run: Run) -> Collected:
        """Return the list of data that the run stores, which is read from the database once."""
        if run.id not in self._collected:
            self._collected[run.id] = collected_of(session, run)
        return self._collected[run.id]

    def sender(self) -> str:
        """Return the digest of the current request's network address; empty if it is unknown."""
        address = self.addresses.client_address(request.environ)
        return self.tokens.digest(f"address {address}") if address else ""

    def provider(self) -> Provider:
        """Return the OpenID Connect provider that signs users in.

        Raises:
            RequestError: The settings name no provider.
        """
        if not self.settings.oidc_issuer:
            raise RequestError("There is no such page.", status=404, code="not_found")
        if self._provider is None:
            self._provider = Provider(self.settings)
        return self._provider

    def recruiter_of(self, ref: str, find: Callable[[Session], Run]) -> Recruiter:
        """Return the recruiter of the run with a reference, which is looked up once.

        Args:
            ref: The run's reference.
            find: Returns the run.

        Raises:
            RequestError: There is no such run.
        """
        if ref not in self._recruiter_names:
            with reading(self.sessions) as session:
                self._recruiter_names[ref] = find(session).recruiter
        return self.recruiter(self._recruiter_names[ref])

    def recruiter(self, name: str) -> Recruiter:
        """Return the recruiter with a name, which is created once with its settings.

        Raises:
            PluginError: The recruiter can no longer be imported.
            SettingError: One of its required settings is missing.
        """
        if name not in self._recruiters:
            self._recruiters[name] = load_recruiter(name, self.settings)
        return self._recruiters[name]


def services_of(app: Flask) -> Services:
    """Return an app's services."""
    return cast(Services, app.extensions[EXTENSION])


def current_services() -> Services:
    """Return the services of the app that handles the current request."""
    return cast(Services, current_app.extensions[EXTENSION])
