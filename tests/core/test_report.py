"""Reports: one file that opens anywhere, runs nothing and shows every text as it was given."""

import re

import pytest
from tests.outline import Outline

from celosia.core.figures import bars, gauge
from celosia.core.report import (
    Block,
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
)

EVIL = "<script>alert('x')</script>\"'&"
BARS = bars(["before", "after"], {"average": [0.6, 0.02], "highest": [1.0, 0.2]}, percent=True)


def every_block(text: str) -> list[Block]:
    return [
        Heading(text),
        Heading(text, level=3),
        Paragraph(text),
        KeyFigures([KeyFigure(text, text, text, text)]),
        Table([text, text], [[text, 30162]], text),
        Figure(BARS, text, text),
        Figure(BARS, text, text),
        Figure(gauge(0.0185, threshold=0.2, title=text, caption=text), text, text),
        Notice(text),
        Notice(text, tone="warning"),
        Notice(text, tone="simulation"),
        Facts([(text, text)]),
        Details(text, [Heading(text), Paragraph(text), Table([text], [[text]])]),
    ]


def _report(text: str = "risk") -> str:
    return Document(text, text, every_block(text)).html()


def test_a_report_is_a_well_formed_page_in_a_stated_language() -> None:
    page = _report()
    outline = Outline(page)
    assert page.startswith("<!DOCTYPE html>")
    assert outline.attributes("html") == [{"lang": "en"}]
    assert len(outline.attributes("h1")) == 1
    assert len(outline.attributes("main")) == 1


def test_a_report_runs_no_script_and_fetches_nothing() -> None:
    page = _report()
    outline = Outline(page)
    tags = {tag for tag, _ in outline.elements}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "form", "base"}
    assert set(re.findall(r"https?://[^\s\"'<)]+", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|url\((?!#)", page)
    for _, attributes in outline.elements:
        assert not any(name.startswith("on") for name in attributes)
        assert (attributes.get("href") or "#").startswith("#")


def test_the_browser_is_told_to_fetch_nothing() -> None:
    policies = [
        attributes["content"]
        for attributes in Outline(_report()).attributes("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert len(policies) == 1
    for rule in ("default-src 'none'", "style-src 'unsafe-inline'", "img-src data:"):
        assert rule in str(policies[0])


def test_markup_in_any_field_is_shown_as_text() -> None:
    page = _report(EVIL)
    outline = Outline(page)
    assert "<script" not in page
    assert "script" not in {tag for tag, _ in outline.elements}
    shown = "".join(outline.words)
    # Title twice (tab and page), subtitle, one for each text field, and the contents.
    assert shown.count(EVIL) >= 25
    assert {
        plot["aria-label"] for plot in outline.attributes("div") if plot.get("role") == "img"
    } == {EVIL}


@pytest.mark.parametrize("block", every_block(EVIL), ids=lambda block: type(block).__name__)
def test_markup_in_a_block_adds_no_element_that_harmless_text_would_not(block: Block) -> None:
    def tags(page: str) -> list[str]:
        return [tag for tag, _ in Outline(page).elements]

    place = every_block(EVIL).index(block)
    harmless = every_block("risk")[place]
    assert tags(Document("t", "s", [block]).html()) == tags(Document("t", "s", [harmless]).html())


def test_placeholders_of_the_template_mean_nothing_in_a_text() -> None:
    assert "$style ${title} {body} $" in _report("$style ${title} {body} $")


def test_characters_that_no_file_can_hold_are_replaced() -> None:
    page = _report("a\x00b\ud800c\x1bd")
    assert "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c" in page
    page.encode("utf-8")


def test_the_same_report_is_the_same_bytes() -> None:
    assert _report() == _report()


def test_ids_are_unique_even_when_a_figure_and_a_heading_come_twice() -> None:
    ids = Outline(_report("Contents")).ids()
    assert len(ids) == len(set(ids))
    assert not any(re.search(r"\s", name) for name in ids)


def test_every_reference_inside_the_page_has_a_target() -> None:
    page = _report()
    targets = set(re.findall(r'(?:href="|url\()#([^")]+)', page))
    assert targets <= set(Outline(page).ids())


def test_the_contents_lead_to_sections_and_parts_but_not_to_smaller_ones() -> None:
    blocks = [Heading("Risk left"), Heading("By attacker", 3), Heading("Journalist", 4)]
    outline = Outline(Document("t", "s", blocks).html())
    links = [attributes["href"] for attributes in outline.attributes("a")]
    assert links == ["#report", "#s-risk-left", "#s-by-attacker"]


def test_a_report_without_headings_has_no_contents() -> None:
    assert Outline(Document("t", "s", [Paragraph("x")]).html()).attributes("nav") == []


def test_headings_of_any_script_get_a_name() -> None:
    outline = Outline(Document("t", "s", [Heading("Año 1"), Heading("汉字"), Heading("!?")]).html())
    assert {"s-año-1", "s-汉字", "s"} <= set(outline.ids())


def test_tables_name_their_rows_and_columns_and_set_numbers_flush_right() -> None:
    table = Table(["column", "loss"], [["age", "12.5 %"], ["zip", "\N{EN DASH}"]], "Loss")
    outline = Outline(Document("t", "s", [table]).html())
    assert [cell["scope"] for cell in outline.attributes("th")] == ["col", "col", "row", "row"]
    assert [cell.get("class") for cell in outline.attributes("td")] == ["number", "number"]
    assert len(outline.attributes("caption")) == 1


def test_the_writer_of_a_table_may_choose_its_numeric_columns() -> None:
    rows = [["28001", "5 of 9"]]
    assert Table(["zip", "levels"], rows).flush_right() == {0}
    assert Table(["zip", "levels"], rows, numeric=[1]).flush_right() == {1}


def test_an_empty_table_is_still_a_table() -> None:
    outline = Outline(Document("t", "s", [Table(["a", "b"], [])]).html())
    assert len(outline.attributes("th")) == 2


def test_a_row_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="row 2 of the table: 1 cells for 2 columns"):
        Table(["a", "b"], [["x", "y"], ["x"]])


def test_a_heading_of_level_one_is_refused() -> None:
    with pytest.raises(ValueError, match="2, 3 or 4"):
        Heading("x", level=1)


def test_an_unknown_tone_is_refused() -> None:
    with pytest.raises(ValueError, match="info, warning, simulation"):
        Notice("x", tone="loud")  # type: ignore[arg-type]


def test_a_notice_says_its_tone_in_words() -> None:
    words = Outline(Document("t", "s", [Notice("Made with a seed.", "simulation")]).html()).words
    assert "Simulation" in words


def test_figures_and_tables_are_numbered_through_the_page() -> None:
    words = "".join(Outline(_report()).words)
    assert [f"Figure {number}." in words for number in (1, 2, 3, 4)] == [True, True, True, False]
    assert "Table 1." in words


def test_the_style_serves_dark_screens_phones_and_paper() -> None:
    page = _report()
    for query in ("prefers-color-scheme: dark", "max-width: 36rem", "@media print"):
        assert query in page


def test_the_footer_names_the_maker_and_says_that_the_file_opens_offline() -> None:
    words = "".join(Outline(_report()).words)
    assert re.search(r"Made by Celosía \d+\.\d+", words)
    assert "opens offline" in words


def test_a_figure_that_is_no_checked_drawing_cannot_enter_a_report() -> None:
    with pytest.raises(ValueError, match="checked"):
        Figure("<svg><script>alert(1)</script></svg>", "c", "d")  # type: ignore[arg-type]
