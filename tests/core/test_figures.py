"""Figures: what every one of them must be, and what each of them says."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from html import escape
from itertools import product
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import some

from celosia.core.figures import (
    NetworkEdge,
    NetworkPanel,
    Svg,
    bars,
    before_after,
    circle,
    gauge,
    lines,
    networks,
    size_bins,
    size_histogram,
    trade_off,
    tree,
)

SIZES = np.array([1, 1, 1, 3, 4, 5, 9, 12, 250])
TRIANGLE = NetworkPanel(
    names=["a", "b", "c"],
    places=circle(3),
    edges=[
        NetworkEdge(0, 1, "0.7"),
        NetworkEdge(1, 2, kind="gone"),
        NetworkEdge(2, 0, kind="come"),
    ],
    title="three",
    directed=True,
    marked=frozenset({0}),
)
DRAWINGS: dict[str, Callable[[], Svg]] = {
    "networks": lambda: networks([TRIANGLE, TRIANGLE], title="twice"),
    "tree": lambda: tree([["York", "North", "*"], ["Leeds", "North", "*"], ["Bath", "South", "*"]]),
    "bars": lambda: bars(["a", "b"], {"before": [0.6, 1.0], "after": [0.02, 0.2]}, percent=True),
    "horizontal bars": lambda: bars(["a", "b"], {"loss": [0.0, 3.0]}, horizontal=True),
    "logarithmic bars": lambda: bars(["a", "b", "c"], {"n": [0.0, 3.0, 1e6]}, log=True),
    "many bars": lambda: bars([f"label {n}" for n in range(40)], {"n": list(range(40))}),
    "histogram": lambda: size_histogram(SIZES, threshold=5, title="Company"),
    "gauge": lambda: gauge(0.0185, threshold=0.2, title="Average risk", caption="after"),
    "exceeded gauge": lambda: gauge(1.0, threshold=0.0),
    "lines": lambda: lines([2, 5, 10], {"loss": [0.1, 0.2, 0.3], "risk": [0.5, 0.2, 0.1]}),
    "logarithmic lines": lambda: lines([1, 2, 100], {"n": [1, 10, 1000]}, log=True, log_x=True),
    "before and after": lambda: before_after(["F", "M"], [0.3, 0.7], [0.4, 0.6], title="sex"),
    "trade-off": lambda: trade_off([0.1, 0.2, 0.3], [0.5, 0.2, 0.4], chosen=1),
    "logarithmic trade-off": lambda: trade_off([0.1, 0.2], [0.5, 0.0], chosen=1, log=True),
}
every_drawing = pytest.mark.parametrize("name", DRAWINGS)


@cache
def drawn(name: str) -> Svg:
    """A drawing, made once for all that is looked for in it."""
    return DRAWINGS[name]()


def _svg(inside: str, attributes: str = "") -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg" {attributes}>{inside}</svg>'


def _ids(svg: Svg) -> list[str]:
    found = (element.get("id") for element in ElementTree.fromstring(str(svg)).iter())
    return [name for name in found if name is not None]


def _words(svg: Svg) -> list[str]:
    return [
        element.text or ""
        for element in ElementTree.fromstring(str(svg)).iter()
        if element.tag.endswith("}text")
    ]


@every_drawing
def test_a_figure_is_one_svg_element_without_prolog_that_fills_its_column(name: str) -> None:
    markup = str(drawn(name))
    root = ElementTree.fromstring(markup)
    assert markup.startswith("<svg ")
    assert root.get("width") == "100%"
    assert root.get("height") is None
    assert root.get("viewBox", "").startswith("0 0 ")


@every_drawing
def test_a_figure_styles_nothing_but_itself_and_names_no_address(name: str) -> None:
    markup = str(drawn(name))
    assert "<style" not in markup
    assert "<metadata" not in markup
    assert "DejaVu" not in markup
    assert re.findall(r"\w+://[^\"]*", markup) == ["http://www.w3.org/2000/svg"]


@every_drawing
def test_the_same_input_gives_the_same_bytes(name: str) -> None:
    assert DRAWINGS[name]() == drawn(name)


@every_drawing
def test_every_colour_follows_the_theme_of_the_page(name: str) -> None:
    markup = str(drawn(name))
    colours = re.findall(r"(?<!\()#[0-9a-fA-F]{6}\b", markup)
    themed = re.findall(r"var\(--figure-[a-z0-9-]+, (#[0-9a-f]{6})\)", markup)
    assert colours == themed


@every_drawing
def test_every_reference_meets_an_id_of_the_same_figure(name: str) -> None:
    svg = drawn(name)
    used = set(re.findall(r'(?:url\(|href=")#([^)"]+)', str(svg)))
    assert used == set(_ids(svg))
    assert len(_ids(svg)) == len(set(_ids(svg)))


def test_no_two_figures_share_an_id() -> None:
    ids = [set(_ids(drawn(name))) for name in DRAWINGS]
    for (i, one), (j, other) in product(enumerate(ids), repeat=2):
        assert i == j or not one & other


def test_drawing_leaves_the_settings_of_matplotlib_alone() -> None:
    before = dict(mpl.rcParams)
    gauge(0.5)
    assert dict(mpl.rcParams) == before


def test_figures_drawn_at_once_by_several_threads_come_out_as_alone() -> None:
    names = some(DRAWINGS, 8)
    alone = [drawn(name) for name in names]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda name: DRAWINGS[name](), names))
    assert together == alone


def test_a_dollar_sign_is_a_dollar_sign() -> None:
    words = _words(bars(["$50k", "a $x^2$ b"], {"$n$": [1, 2], "m": [1, 2]}, title="$ and $"))
    assert {"$50k", "a $x^2$ b", "$n$", "$ and $"} <= set(words)


def test_text_of_any_script_stays_text() -> None:
    labels = ["汉字", "العربية", "Ελλάδα", "🙂", "<b>&amp;"]
    assert set(labels) <= set(_words(bars(labels, {"n": [1, 2, 3, 4, 5]})))


def test_characters_that_xml_forbids_do_not_reach_the_figure() -> None:
    assert "a b c" in _words(bars(["a\x00b\ud800c"], {"n": [1]}))


@given(st.text(), st.text())
@settings(max_examples=15)
def test_any_text_makes_a_sound_figure(label: str, title: str) -> None:
    assert isinstance(bars([label], {label: [1.0]}, title=title, x_label=label), Svg)


def test_long_labels_end_in_an_ellipsis() -> None:
    words = _words(bars(["x" * 100], {"n": [1]}, title="y" * 100))
    assert "x" * 21 + "…" in words
    assert max(map(len, words)) <= 64


def test_few_bars_carry_their_numbers_and_many_do_not() -> None:
    assert "1,204" in _words(bars(["a"], {"n": [1204]}))
    assert "1,204" not in _words(bars(["a"] * 17, {"n": [1204] * 17}))


def test_bars_of_different_series_differ_in_more_than_colour() -> None:
    markup = str(bars(["a"], {"before": [1], "after": [2], "later": [3]}))
    assert markup.count("<pattern ") == 2  # the first is plain, the others are hatched


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_values_without_a_place_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        bars(["a"], {"n": [value]})


def test_series_of_the_wrong_length_and_empty_figures_are_refused() -> None:
    with pytest.raises(ValueError, match="1 values for 2 labels"):
        bars(["a", "b"], {"n": [1]})
    with pytest.raises(ValueError, match="at least one"):
        bars([], {"n": []})


@pytest.mark.parametrize("log", [False, True])
def test_bars_that_are_all_zero_can_be_drawn(log: bool) -> None:
    assert "0" in _words(bars(["a", "b"], {"n": [0, 0]}, log=log))


def test_class_sizes_fall_in_bins_of_one_two_five() -> None:
    found = size_bins(np.array([1, 2, 4, 5, 9, 10, 19, 20, 49, 50]))
    assert found.labels == ("1", "2–4", "5–9", "10–19", "20–49", "50–99")  # noqa: RUF001
    assert found.classes == (1, 2, 2, 2, 2, 1)
    assert found.records == (1, 6, 14, 29, 69, 50)
    assert found.below == 0


def test_a_bin_starts_exactly_at_the_threshold() -> None:
    found = size_bins(np.array([5, 6, 7, 8]), threshold=7)
    assert found.labels == ("1", "2–4", "5–6", "7–9")  # noqa: RUF001
    assert found.below == 3


@given(st.lists(st.integers(1, 10**7)), st.none() | st.integers(1, 300))
def test_bins_lose_no_class_and_no_record(sizes: list[int], threshold: int | None) -> None:
    found = size_bins(np.array(sizes, dtype=np.int64), threshold=threshold)
    assert sum(found.classes) == len(sizes)
    assert sum(found.records) == sum(sizes)
    limit = threshold or 1
    assert sum(found.classes[: found.below]) == sum(size < limit for size in sizes)
    assert len(found.labels) == len(found.classes) == len(found.records)


def test_a_class_without_records_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        size_bins(np.array([0, 5]))


def test_the_histogram_counts_records_or_classes() -> None:
    sizes = np.array([3, 4])
    assert "7" in _words(size_histogram(sizes))
    assert "2" in _words(size_histogram(sizes, weight_by_records=False))


def test_a_histogram_of_no_class_is_empty_but_drawn() -> None:
    words = _words(size_histogram(np.array([], dtype=np.int64), threshold=5))
    assert "below k = 5" in words


def test_the_gauge_shows_tiny_numbers_and_the_verdict_in_words() -> None:
    assert "0.0031 %" in _words(gauge(0.000031))
    assert "within the accepted 20 %" in _words(gauge(0.2, threshold=0.2))
    assert "exceeds the accepted 20 %" in _words(gauge(0.21, threshold=0.2))


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_the_gauge_refuses_what_is_no_fraction(value: float) -> None:
    with pytest.raises(ValueError, match="must be in"):
        gauge(value)
    with pytest.raises(ValueError, match="must be in"):
        gauge(0.5, threshold=value)


@pytest.mark.parametrize(
    "markup",
    [
        "",
        "<p>text</p>",
        "<svg><path/></svg>",  # an svg element in name only: no namespace
        _svg("<script>alert(1)</script>"),
        _svg("<x:script xmlns:x='http://www.w3.org/2000/svg'>alert(1)</x:script>"),
        _svg("<path d=''/>", "onload='alert(1)'"),
        _svg("<path ONCLICK='alert(1)'/>"),
        _svg("<use href='https://example.org/a.svg#x'/>"),
        _svg("<use xmlns:x='http://www.w3.org/1999/xlink' x:href='data:image/svg+xml,x'/>"),
        _svg("<a href='#x'><text>x</text></a>"),
        _svg("<image href='#x'/>"),
        _svg("<foreignObject><p>x</p></foreignObject>"),
        _svg("<style>@import 'x';</style>"),
        _svg("<path style='fill: url(https://example.org/x)'/>"),
        _svg(r"<path style='fill: u\72l(https://example.org/x)'/>"),
        _svg("<title><![CDATA[><script>alert(1)</script>]]></title>"),
        _svg("<!-- --><path/>"),
        '<?xml version="1.0"?>' + _svg(""),
        '<!DOCTYPE svg [<!ENTITY a "b">]>' + _svg("&a;"),
        _svg("<path>"),
    ],
)
def test_foreign_svg_that_could_run_or_fetch_something_is_refused(markup: str) -> None:
    with pytest.raises(ValueError, match="cannot be put in a report"):
        Svg(markup)


def test_escaped_markup_in_a_label_is_only_text() -> None:
    label = "<script>"
    assert escape(label) in str(bars([label], {"n": [1]}))


def test_a_prefix_changes_ids_and_references_but_no_text() -> None:
    text = 'id="a" url(#a) href="#a"'
    svg = Svg(_svg(f'<path id="a" d=""/><use href="#a" style="fill: url(#a)"/><text>{text}</text>'))
    renamed = svg.prefixed("one-")
    assert _ids(renamed) == ["one-a"]
    assert 'href="#one-a" style="fill: url(#one-a)"' in str(renamed)
    assert _words(renamed) == [text]


def test_a_notebook_shows_the_drawing() -> None:
    svg = gauge(0.5)
    assert svg._repr_svg_() == str(svg)


def test_a_label_is_one_vertex_of_its_level() -> None:
    drawn = str(tree([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]]))
    assert [drawn.count(f">{label}<") for label in ("a", "x", "y", "*")] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: networks([]),
        lambda: networks([NetworkPanel(names=["a"], places=[], edges=[])]),
        lambda: networks([NetworkPanel(names=["a"] * 81, places=circle(81), edges=[])]),
        lambda: tree([["a", "x"], ["b"]]),
        lambda: tree([]),
    ],
)
def test_networks_that_cannot_be_read_are_refused(wrong: Callable[[], Svg]) -> None:
    with pytest.raises(ValueError, match=r"panel|paths"):
        wrong()
