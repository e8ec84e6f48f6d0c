"""What an export and a score file say about themselves."""

from datetime import UTC

from pydantic import AwareDatetime, BaseModel, ConfigDict


class _FrozenFacts(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class RunFacts(_FrozenFacts):
    """What the export says about its run, under "parallax" in datapackage.json.

    Judgments that were collected elsewhere have the name of their file as the run, and no study.
    """

    run: str
    study: str
    study_version: str
    seed: int
    materials_hash: str
    recruiter: str
    simulated: bool
    launched_at: AwareDatetime | None
    code_version: str
    rendering: str
    still_filling: bool = False
    session: int = 1  # of a study in parts; a first part says nothing

    @property
    def source(self) -> str:
        """The run and its study, or the file of judgments that were collected elsewhere."""
        if not self.study:
            return f"{self.run}, collected elsewhere"
        return f"run {self.run} of {self.study} {self.study_version}"

    @property
    def written(self) -> str:
        """How the texts were displayed, such as "as written" or "in sentence case"."""
        words = self.rendering.replace("_", " ")
        return words if words.startswith("as ") else f"in {words}"

    @property
    def launched(self) -> str:
        """The time of the run's launch, to the minute."""
        if self.launched_at is None:
            return "at an unknown time"
        return f"{self.launched_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


class ScoreFacts(_FrozenFacts):
    """What a score file says about itself, in its metadata.

    The study is empty where the items came from a file that names none, the selection where all
    items were scored, the certificate where nothing was computed in reduced precision, the check
    where the model has one way to compute only, the reading where each sentence was read by itself,
    the weights where they were loaded in single precision.
    """

    model: str
    trained_on: str
    model_hash: str
    rendering: str
    study: str
    study_version: str
    materials_hash: str
    code_version: str
    selection: str = ""
    certificate: str = ""
    check: str = ""
    reading: str = ""
    weights: str = ""

    @property
    def given(self) -> str:
        """The model's input, in words: the rendering, and any special reading or weights."""
        weights = self.weights and f"with weights in {self.weights}"
        return ", ".join(filter(None, (self.rendering.replace("_", " "), self.reading, weights)))
