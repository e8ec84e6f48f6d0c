"""Which server and which of its models: ``api:URL#MODEL``."""

from dataclasses import dataclass

from lm.errors import LmError

API_PREFIX = "api:"


@dataclass(frozen=True, slots=True)
class ServerModel:
    """A model behind a server.

    Attributes:
        url: The address below which ``completions`` stands, such as ``http://host:8000/v1``.
        model: The model's name there.
    """

    url: str
    model: str


@dataclass(frozen=True, slots=True)
class Terms:
    """On what terms a server is asked.

    Attributes:
        price_in: What a million tokens of prompts cost, in the unit of the cap; None: unknown.
        price_out: What a million tokens of answers cost.
        cap: What all calls together may cost.
        temperature: Of samples.
        samples: How many samples stand for probabilities where the server gives none.
        max_tokens: The most tokens of a sample.
        concurrency: How many calls are under way at once.
        effort: How hard it is asked to think, in the server's own word; empty: by the template.
        key: The key that is sent as a bearer token; empty for none.
    """

    price_in: float | None = None
    price_out: float | None = None
    cap: float | None = None
    temperature: float = 1.0
    samples: int = 10
    max_tokens: int = 16
    concurrency: int = 4
    effort: str = ""
    key: str = ""

    @property
    def of_samples(self) -> dict[str, object]:
        """What samples depend on, as it is written into a take."""
        return {
            "temperature": self.temperature,
            "samples": self.samples,
            "max_tokens": self.max_tokens,
            "reasoning_effort": self.effort,
        }


def parse_server(named: str) -> ServerModel:
    """Return what ``api:URL#MODEL`` names.

    Raises:
        LmError: It is not of that form.
    """
    url, _, model = named.removeprefix(API_PREFIX).partition("#")
    if not url.startswith(("http://", "https://")) or not model:
        raise LmError(
            f'"{named}" names no model of a server. Expected api:URL#MODEL, such as '
            "api:http://127.0.0.1:8000/v1#my-model."
        )
    return ServerModel(url.rstrip("/"), model)
