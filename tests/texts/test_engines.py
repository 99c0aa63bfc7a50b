"""Optional recognisers of names, with stand-ins for spaCy and Presidio.

The packages are too heavy to be installed for tests: `python -m bench texts` runs the engines with
the real ones.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from celosia.core.errors import EngineError, InputError
from celosia.texts import Collection, PresidioEngine, SpacyEngine, find
from celosia.texts.detection import engines
from celosia.texts.detection.engines import engine_from_text


@pytest.fixture
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Modules with the few names that the engines use; what was loaded or blank is told."""
    used: list[str] = []

    def entity(text: str, word: str, label: str) -> SimpleNamespace:
        start = text.index(word)
        return SimpleNamespace(start_char=start, end_char=start + len(word), label_=label)

    def load(name: str) -> Any:
        used.append(f"load {Path(name).name}")

        def pipeline(text: str) -> SimpleNamespace:
            found = [entity(text, "Zorrilla", "PER"), entity(text, "ten", "CARDINAL")]
            return SimpleNamespace(ents=found)

        pipeline.lang = "es"  # type: ignore[attr-defined]
        return pipeline

    class AnalyzerEngine:
        def __init__(self, *, nlp_engine: Any, supported_languages: list[str]) -> None:
            used.append(f"languages {supported_languages}")
            self.nlp = nlp_engine.nlp

        def analyze(self, *, text: str, language: str, score_threshold: float) -> list[Any]:
            assert language in self.nlp
            assert score_threshold == 0.4
            place = text.index("Zorrilla")
            return [
                SimpleNamespace(start=place, end=place + 8, entity_type="PERSON", score=0.85),
                SimpleNamespace(start=0, end=2, entity_type="CRYPTO", score=1.0),
            ]

    def module(name: str, **names: Any) -> None:
        made = ModuleType(name)
        made.__dict__.update(names)
        monkeypatch.setitem(sys.modules, name, made)

    module("spacy", load=load, blank=lambda language: used.append(f"blank {language}"))
    module("tldextract", TLDExtract=SimpleNamespace, tldextract=SimpleNamespace())
    module("presidio_analyzer", AnalyzerEngine=AnalyzerEngine)
    module("presidio_analyzer.nlp_engine", SpacyNlpEngine=SimpleNamespace)
    monkeypatch.setattr(engines, "find_spec", lambda name: name != "absent" or None)
    return used


def people(engine: engines.Engine) -> list[str]:
    text = "about ten, zorros and Zorrilla ran"
    found = find(Collection.of([text], language="es"), engine=engine).findings
    return [text[each.span.start : each.span.end] for each in found if each.kind == "person"]


def test_entities_of_a_spacy_model_are_found(stand_ins: list[str], tmp_path: Path) -> None:
    assert people(SpacyEngine("es_core_news_sm")) == ["Zorrilla"]
    assert people(engine_from_text(f"spacy:{tmp_path}")) == ["Zorrilla"]  # a folder
    assert stand_ins == ["load es_core_news_sm", f"load {tmp_path.name}"]


def test_presidio_downloads_nothing(stand_ins: list[str]) -> None:
    assert people(PresidioEngine()) == ["Zorrilla"]
    extractor = sys.modules["tldextract"].tldextract.TLD_EXTRACTOR
    assert extractor.suffix_list_urls == ()  # it would download that list
    assert stand_ins == ["blank en", "blank es", "languages ['en', 'es']"]
    stand_ins.clear()
    assert people(engine_from_text("presidio:es_core_news_sm")) == ["Zorrilla"]
    assert "load es_core_news_sm" in stand_ins


@pytest.mark.usefixtures("stand_ins")
def test_engines_that_do_not_exist_are_refused() -> None:
    for text in ("spacy", "spacy:", "flair:x", ""):
        with pytest.raises(InputError, match="no recogniser"):
            engine_from_text(text)
    with pytest.raises(EngineError, match="absent"):
        engine_from_text("spacy:absent")
