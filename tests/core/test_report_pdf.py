"""Reports as PDF files, read back with another library than the one that writes them."""

from __future__ import annotations

import io
import logging
import sys
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader

from celosia.core import figures
from celosia.core.errors import EngineError
from celosia.core.messages import speaking
from celosia.core.report import (
    Details,
    Document,
    Facts,
    Figure,
    Heading,
    KeyFigure,
    KeyFigures,
    Notice,
    Paragraph,
    Table,
    check_report_format,
)

_BARS = figures.bars(
    ["average", "highest"],
    {"original": [0.4, 1.0], "released": [0.1, 0.2]},
    title="Risk before and after",
    percent=True,
)
_DOCUMENT = Document(
    "Published table",
    "5-anonymity over age and zip",
    [
        Notice("Made with a seed.", tone="simulation"),
        Heading("Risk that is left"),
        Paragraph("One in five at most."),
        KeyFigures([KeyFigure("Average risk", "1.358%", "chance of naming a record")]),
        Table(["column", "loss"], [["age", "12.5 %"], ["zip", 30162]], "Where use was lost"),
        Figure(_BARS, "Risk in two bars", "average 40 % before, 10 % after"),
        Details("Versions", [Heading("Libraries", level=3), Facts([("numpy", "2.4")])]),
    ],
)


def _read(document: Document) -> PdfReader:
    return PdfReader(io.BytesIO(document.pdf()))


def _text(reader: PdfReader) -> str:
    return " ".join(" ".join(page.extract_text() for page in reader.pages).split())


@pytest.fixture(scope="module")
def reader() -> PdfReader:
    return _read(_DOCUMENT)


def test_every_block_is_in_the_file_as_text(reader: PdfReader) -> None:
    text = _text(reader)
    for words in (
        "Published table",
        "5-anonymity over age and zip",
        "Simulation Made with a seed.",
        "One in five at most.",
        "Average risk",
        "1.358%",
        "Table 1. Where use was lost",
        "30,162",
        "Figure 1. Risk in two bars",
        "Risk before and after",  # the text of a drawing stays text
        "Versions",
        "numpy",
        "Page 1 of 2",
    ):
        assert words in text, words


def test_a_reader_finds_the_way_by_bookmarks_title_and_language(reader: PdfReader) -> None:
    marks = [mark for mark in reader.outline if not isinstance(mark, list)]
    assert [mark.title for mark in marks] == ["Risk that is left"]
    assert reader.metadata is not None
    assert reader.metadata.title == "Published table"
    assert _root(reader)["/Lang"] == "en"
    assert "average 40 % before, 10 % after" in _described(_root(reader))


def _root(reader: PdfReader) -> Any:
    return reader.trailer["/Root"]


def _described(root: Any) -> list[str]:
    """What is told of figures to readers who cannot see them."""
    parts = root["/StructTreeRoot"]["/K"][0]["/K"]
    return [str(part.get_object().get("/Alt")) for part in parts]


def test_typefaces_are_embedded_and_nothing_is_fetched(reader: PdfReader) -> None:
    page: Any = reader.pages[0]
    fonts = page["/Resources"]["/Font"].get_object()
    for font in fonts.values():
        inner = font.get_object()["/DescendantFonts"][0].get_object()
        assert "/FontFile2" in inner["/FontDescriptor"].get_object()
    assert b"/URI" not in _DOCUMENT.pdf()


def test_a_report_is_spanish_where_the_language_is() -> None:
    with speaking("es"):
        reader = _read(_DOCUMENT)
    assert _root(reader)["/Lang"] == "es"
    assert "Página 1 de 2" in _text(reader)
    assert "Simulación" in _text(reader)


def test_long_cells_strange_letters_and_empty_tables_are_set(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.DEBUG):
        reader = _read(
            Document(
                "t" * 300,
                "\x00中",
                [
                    Table(["a", "b"], [["x" * 500, "word " * 1800]]),
                    Table([f"c{n}" for n in range(30)], [["1"] * 30]),
                    Table(["a"], []),
                    Facts([]),
                    Notice("long " * 1300, tone="warning"),
                ],
            )
        )
    text = _text(reader)
    assert text.count("word") == 1800
    assert text.count("long") == 1300
    assert "\N{REPLACEMENT CHARACTER}" * 2 in text
    assert "中" not in text
    assert not caplog.records, "letters of a report belong in no log"


def test_the_ending_of_the_name_says_the_format(tmp_path: Path) -> None:
    paper, page = tmp_path / "r.PDF", tmp_path / "r.html"
    assert _DOCUMENT.write(paper).read_bytes().startswith(b"%PDF-")
    assert _DOCUMENT.write(page).read_text("utf-8").startswith("<!DOCTYPE html>")


def test_without_the_package_a_pdf_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fpdf", None)
    for refused in (lambda: check_report_format(tmp_path / "r.pdf"), _DOCUMENT.pdf):
        with pytest.raises(EngineError) as caught:
            refused()
        assert caught.value.code == "CEL-I082"
    check_report_format(tmp_path / "r.html")
