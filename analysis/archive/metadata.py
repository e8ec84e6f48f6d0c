"""Collect the metadata that all archives share: the run, the study and its declarations."""

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.archive.licences import Licence, describe_licences, read_licences
from analysis.archive.package import Package
from analysis.errors import AnalysisError
from experiment.studies.publication import Contributor, Publication
from experiment.studies.study import Study

# Archives reject a data set without these fields; they have no defaults.
REQUIRED_KEYS = ("description", "license", "contributors", "date_published")


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata of a data set, as catalogues need them.

    Attributes:
        name: The name, without spaces.
        title: The title.
        about: The declarations for archives.
        of_sentences: The licences of other people's sentences, those with most terms first.
        study: The study.
        provenance: The origin of the data.
    """

    name: str
    title: str
    about: Publication
    of_sentences: tuple[Licence, ...]
    study: Study
    provenance: Mapping[str, object]

    @property
    def description(self) -> str:
        """The description of the data set; its first sentence marks simulated data."""
        if self.provenance["simulated"]:
            return f"Simulated: programs answered here, not people. {self.about.description}"
        return self.about.description

    @property
    def licences(self) -> tuple[Licence, ...]:
        """The declared licence, and those of the sentences."""
        declared = [Licence(self.about.license)] if self.about.license else []
        stated = (licence for licence in self.of_sentences if licence.is_stated)
        return tuple(dict.fromkeys([*declared, *stated]))

    @property
    def strictest_licence(self) -> Licence:
        """The licence with most terms, for deposits that have one licence for all files.

        A licence without an identifier may forbid anything, so it counts as the strictest.
        """
        return max(self.licences, key=lambda licence: (not licence.is_spdx, len(licence.terms)))

    @property
    def licence_ids(self) -> str | list[str]:
        """The licences' addresses, or their names; a text if there is only one."""
        first, *others = (licence.url or licence.name for licence in self.licences)
        return [first, *others] if others else first

    @property
    def creators(self) -> tuple[Contributor, ...]:
        """The creators of the data set."""
        return self.about.contributors

    @property
    def keywords(self) -> list[str]:
        """The keywords under which the data set can be found."""
        return list(self.about.keywords)

    @property
    def version(self) -> str:
        """The study's version."""
        return str(self.provenance["study_version"])

    @property
    def citation(self) -> str:
        """The recommended citation: creators, year, title and location."""
        names = "; ".join(
            f"{creator.family_name}, {creator.given_name}" for creator in self.creators
        )
        doi = f" https://doi.org/{self.about.doi}" if self.about.doi else ""
        return f"{names} ({self.about.date_published[:4]}). {self.title} [data set].{doi}"

    @property
    def statements(self) -> dict[str, str]:
        """The statements on licences, ethics, funding, availability and registration."""
        statements = {
            "Licences": describe_licences(self.about.license, self.of_sentences),
            "Ethics": self.study.study.ethics,
            "Funding": self.about.funding,
            "Data availability": self.about.data_availability,
            "Preregistration": self.about.preregistration,
        }
        return {name: text for name, text in statements.items() if text}


def collect_metadata(package: Package, study: Study, about: Publication) -> Metadata:
    """Return the metadata of an export.

    Raises:
        AnalysisError: A declaration that every archive requires is missing.
    """
    of_sentences = read_licences(package)
    known = {"license"} if any(licence.is_stated for licence in of_sentences) else set()
    missing = [key for key in REQUIRED_KEYS if not getattr(about, key) and key not in known]
    if missing:
        raise AnalysisError(
            f"the study lacks {', '.join(missing)}, which every archive requires",
            where=str(package.folder / "study" / "study.toml"),
            expected="[publication] with " + ", ".join(REQUIRED_KEYS),
            remedy="Write them into a file and give it with --about; docs/studies.md has the keys",
        )
    title = f"{study.study.title} ({package.provenance['study']}, run {package.provenance['run']})"
    return Metadata(package.name, title, about, of_sentences, study, package.provenance)


def person_entry(contributor: Contributor) -> dict[str, object]:
    """Return a contributor as a schema.org Person."""
    fields: dict[str, object] = {
        "@type": "Person",
        "name": contributor.name,
        "givenName": contributor.given_name,
        "familyName": contributor.family_name,
    }
    if contributor.orcid:
        fields["@id"] = f"https://orcid.org/{contributor.orcid}"
    if contributor.affiliation:
        fields["affiliation"] = {"@type": "Organization", "name": contributor.affiliation}
    if contributor.email:
        fields["email"] = contributor.email
    return fields
