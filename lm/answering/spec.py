"""The address of a server and one of its models: ``api:URL#MODEL``."""

from dataclasses import dataclass

from lm.errors import LmError

API_PREFIX = "api:"


@dataclass(frozen=True, slots=True)
class ServerModel:
    """A model on a server.

    Attributes:
        url: The base address of ``completions``, such as ``http://host:8000/v1``.
        model: The model's name on the server.
    """

    url: str
    model: str


@dataclass(frozen=True, slots=True)
class Terms:
    """Prices and settings of calls to a server.

    Attributes:
        price_in: The price of a million prompt tokens, in the unit of the cap; None: unknown.
        price_out: The price of a million answer tokens.
        cap: The highest total cost of all calls.
        temperature: The temperature of samples.
        samples: The number of samples, if the server reports no probabilities.
        max_tokens: The most tokens in a sample.
        concurrency: The number of concurrent calls.
        effort: The effort of thinking, in the server's own word; empty: set by the template.
        fingerprints: "stop" if the server's fingerprint may not change; "record" if it may, since
            copies of one model can answer in turn.
        key: The API key, sent as a bearer token; empty for none.
    """

    price_in: float | None = None
    price_out: float | None = None
    cap: float | None = None
    temperature: float = 1.0
    samples: int = 10
    max_tokens: int = 16
    concurrency: int = 4
    effort: str = ""
    fingerprints: str = "stop"
    key: str = ""

    @property
    def of_samples(self) -> dict[str, object]:
        """The settings of samples, as stored with a run."""
        return {
            "temperature": self.temperature,
            "samples": self.samples,
            "max_tokens": self.max_tokens,
            "reasoning_effort": self.effort,
        }


def parse_server(address: str) -> ServerModel:
    """Return the server and model in ``api:URL#MODEL``.

    Raises:
        LmError: The text does not have that form.
    """
    url, _, model = address.removeprefix(API_PREFIX).partition("#")
    if not url.startswith(("http://", "https://")) or not model:
        raise LmError(
            f'"{address}" names no model of a server. Expected api:URL#MODEL, such as '
            "api:http://127.0.0.1:8000/v1#my-model."
        )
    return ServerModel(url.rstrip("/"), model)
