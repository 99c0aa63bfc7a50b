"""Formulas of lessons: well-formed MathML, the same in both languages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from celosia.logs.report import UTILITY as LOG_WORDS
from celosia.studio import language
from celosia.studio.graphs import labels
from celosia.studio.learn.techniques import TECHNIQUES
from celosia.studio.logs import measures
from celosia.studio.traces import pages as traces_pages
from celosia.studio.widgets.empty import DRAWINGS
from celosia.studio.widgets.formula import mathml, with_formulas
from celosia.studio.widgets.meanings import MEANINGS
from celosia.traces.metrics.utility import WORDS as TRACE_WORDS

TEXTS = Path(language.__file__).parent / "texts"


def formulas(name: str, spoken: str) -> list[str]:
    """The formulas of a text."""
    text = (TEXTS / f"{name}.{spoken}.md").read_text("utf-8")
    assert text.count("$$") % 2 == 0
    return [part for is_formula, part in with_formulas(text) if is_formula]


@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda each: each.slug)
def test_a_lesson_has_a_formula_that_is_the_same_in_both_languages(technique: object) -> None:
    name = technique.text  # type: ignore[attr-defined]
    english, spanish = (formulas(name, spoken) for spoken in ("en", "es"))
    assert english
    worded = re.compile(r"\\text\{.*?\}")
    assert [worded.sub("", each) for each in english] == [worded.sub("", each) for each in spanish]
    for each in (*english, *spanish):
        ElementTree.fromstring(mathml(each))


def test_scripts_sums_and_fractions_are_set_as_such() -> None:
    drawn = mathml(r"\frac{1}{2} \sum_{i=1}^{m} |p_i - q_i| < x^2")
    for piece in (
        "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac>",
        "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mrow><mi>m</mi>",
        "<msub><mi>p</mi><mi>i</mi></msub>",
        "<mo>&lt;</mo>",
    ):
        assert piece in drawn


def test_every_meaning_has_a_formula_and_every_measure_of_a_table_too() -> None:
    listed = [each.formula for each in MEANINGS]
    assert len({each.name for each in MEANINGS}) == len(listed)
    tables: list[tuple[Iterable[str], dict[str, str]]] = [
        (labels.METRICS, labels.FORMULAS),
        (labels.SHARES, labels.SHARED_FORMULAS),
        (TRACE_WORDS, traces_pages.FORMULAS),
        (LOG_WORDS, measures.FORMULAS),
    ]
    for names, formulas_of in tables:
        assert set(names) == set(formulas_of)
        listed += formulas_of.values()
    for each in listed:
        ElementTree.fromstring(mathml(each))


@pytest.mark.parametrize("door", ["collect", "graphs", "logs", "query", "texts"])
def test_every_key_figure_of_a_door_says_what_it_is(door: str) -> None:
    """Counts of what is there say it themselves."""
    known = {each.name for each in MEANINGS}
    shown = {
        word
        for file in (TEXTS.parent / door).rglob("*.py")
        for word in re.findall(r'\bfigure\(\s*"([^"]+)"', file.read_text("utf-8"))
    }
    assert shown - known <= {"Devices so far", "Reports so far", "Method"}


@pytest.mark.parametrize("wrong", [r"\script", r"\frac{1}{2", "{x"])
def test_what_is_no_formula_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="formula"):
        mathml(wrong)


def test_places_with_nothing_to_show_are_drawn_in_the_colours_of_the_page() -> None:
    sheet = (TEXTS.parent / "assets" / "studio.css").read_text("utf-8")
    for drawing in DRAWINGS.values():
        found = ElementTree.fromstring(f"<svg>{drawing}</svg>")
        for each in found:
            assert f".celosia-empty .{each.attrib['class']} {{" in sheet
            assert not {"fill", "stroke", "style"} & set(each.attrib)
