"""Where figures are drawn: our look for matplotlib, and its output made fit for a page.

Figures are drawn in the colours of the light theme; afterwards each colour becomes a style variable
with that colour as its fallback, so the page decides (a dark one differently) and a figure on its
own still looks right.
"""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element

from celosia.core.figures.svg import Svg, parse, referenced_ids, rename_ids, serialise

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, MUTED, GRID, PAPER = "#1d2733", "#5b6673", "#e3dfd6", "#fffefb"
SERIES = ("#004488", "#ddaa33", "#bb5566", "#44aa99", "#6f7780", "#882255")
"""Told apart by colour-blind readers: Tol 2021, high-contrast scheme, then muted."""
_HATCHES = ("", "////", "....", "xxxx", "----", "++++")

WIDTH = 5.4
"""Inches: with this font a label stays legible on a phone and is not shouted on a desk."""

_NAMES = ("series-1", "series-2", "series-3", "series-4", "series-5", "series-6")
_VARIABLES = {INK: "ink", MUTED: "muted", GRID: "grid", PAPER: "paper"} | dict(
    zip(SERIES, _NAMES, strict=True)
)
_FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_LOOK: dict[Any, object] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "celosia",
    # Shipped with matplotlib: the layout is the same on every machine.
    "font.family": ["DejaVu Sans"],
    "font.size": 8.6,
    "text.parse_math": False,
    "text.color": INK,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": MUTED,
    "axes.spines.left": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.formatter.use_mathtext": False,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "hatch.linewidth": 0.8,
    "legend.frameon": False,
    "legend.fontsize": 8.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.major.size": 0.0,
    "ytick.major.size": 0.0,
    "xtick.minor.size": 0.0,
    "ytick.minor.size": 0.0,
}
_DRAWING = Lock()


@contextmanager
def drawing() -> Iterator[None]:
    """Our look while a figure is drawn, and matplotlib's settings as they were afterwards.

    The settings belong to the whole process, so figures are drawn one at a time.
    """
    import matplotlib  # matplotlib is slow to load

    with _DRAWING, matplotlib.rc_context(_LOOK), warnings.catch_warnings():
        # Text stays text: the reader's fonts have the glyphs that the layout font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def new_axes(height: float, *, width: float = WIDTH) -> tuple[Figure, Axes]:
    """An empty figure of the given inches and its axes; call it inside `drawing`."""
    from matplotlib.figure import Figure as Sheet  # matplotlib is slow to load

    figure = Sheet(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def bar_look(number: int) -> dict[str, Any]:
    """Colour and hatch of the bars of one series."""
    turn = number % len(SERIES)
    look = {"facecolor": SERIES[turn], "hatch": _HATCHES[turn]}
    return look | {"edgecolor": PAPER, "linewidth": 0}


def alert_look() -> dict[str, Any]:
    """Colour and hatch of what is not as it should be."""
    return bar_look(2) | {"hatch": _HATCHES[1]}


def finish(figure: Figure) -> Svg:
    """The figure as SVG that follows the page's theme and shares no id with another figure."""
    page = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(page, format="svg", transparent=True, metadata=nothing)
    text = page.getvalue()
    root = parse(text[text.index("<svg") :])
    _drop_page_wide_parts(root)
    for element in root.iter():
        _follow_theme(element)
    _scale_with_page(root)
    digest = hashlib.sha256(serialise(root).encode()).hexdigest()
    rename_ids(root, f"fig-{digest[:12]}-")
    return Svg(serialise(root))


def _drop_page_wide_parts(root: Element) -> None:
    """Remove matplotlib's style sheet, which would style the whole page, and idle ids."""
    wanted = referenced_ids(root)
    for parent in list(root.iter()):
        for child in [child for child in parent if child.tag in {"style", "metadata"}]:
            parent.remove(child)
        if parent.get("id") not in wanted:
            parent.attrib.pop("id", None)
        if parent.text and parent.tag != "text":
            parent.text = None
        parent.tail = None


def _follow_theme(element: Element) -> None:
    style = element.get("style", "")
    for name in ("fill", "stroke"):  # variables work in every browser in `style` alone
        if element.get(name, "").startswith("#"):
            style = f"{name}: {element.attrib.pop(name)}; {style}"
    if style:
        style = re.sub(r"font-family: [^;]*", f"font-family: {_FONTS}", style)
        style = re.sub(r"(font: [^;]*?px) [^;]*", rf"\1 {_FONTS}", style)
        element.set("style", re.sub(r"#[0-9a-f]{6}\b", _variable, style).rstrip("; "))
    if "d" in element.attrib:
        element.set("d", " ".join(element.attrib["d"].split()))


def _variable(match: re.Match[str]) -> str:
    colour = match[0]
    return f"var(--figure-{_VARIABLES[colour]}, {colour})" if colour in _VARIABLES else colour


def _scale_with_page(root: Element) -> None:
    """Fill the column, between the sizes at which labels are 7.4 and 15 pixels high."""
    width = float(root.get("viewBox", "0 0 0 0").split()[2])
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    attributes = {
        "class": "celosia-figure",
        "width": "100%",
        "stroke-linejoin": "round",
        "style": f"min-width: {0.86 * width:.0f}px; max-width: {1.74 * width:.0f}px",
    }
    root.attrib.update(attributes)
