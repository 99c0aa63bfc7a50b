"""Drawings for paper: an `Svg` in the few words that a library which writes PDF files knows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from itertools import product
from xml.etree.ElementTree import Element

from celosia.core.figures.svg import Svg, parse

_VARIABLE = re.compile(r"var\(--[\w-]+,\s*(#[0-9a-fA-F]{3,6})\)")
_PAIR = re.compile(r"(-?[\d.]+(?:e-?\d+)?)[ ,]+(-?[\d.]+(?:e-?\d+)?)")
_FILL = re.compile(r"fill:\s*url\(#([^)]+)\)")


def for_print(svg: Svg, *, family: str) -> Element:
    """The drawing without what only a browser knows: variables, its fonts, units and patterns.

    Args:
        svg: the drawing.
        family: the typeface of all its text.

    >>> drawing = Svg('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1">'
    ...               '<path d="M0 0h1" style="stroke: var(--figure-ink, #1d2733)"/></svg>')
    >>> for_print(drawing, family="sans")[0].get("style")
    'stroke: #1d2733'
    """
    root = parse(svg.markup)
    for name in ("class", "style", "width"):
        root.attrib.pop(name, None)
    for element in root.iter():
        for name in ("id", "href", "clip-path"):
            if name in element.attrib:
                element.set(name, element.attrib[name].replace("-", "_"))
        style = element.get("style")
        if style is not None:
            style = _VARIABLE.sub(r"\1", style)
            style = re.sub(r"font-family:[^;]*", f"font-family: {family}", style)
            style = re.sub(r"(font-size: [\d.]+)px", r"\1", style)
            element.set("style", _FILL.sub(lambda match: match[0].replace("-", "_"), style))
    _draw_patterns(root)
    return root


def _draw_patterns(root: Element) -> None:
    """Draw the hatches of bars as lines within the bar: a PDF here knows no repeated tile."""
    patterns = {each.get("id"): each for each in root.iter("pattern")}
    count = 0
    for parent in list(root.iter()):
        for child in list(parent):
            found = _FILL.search(child.get("style", ""))
            if found is None or found[1].replace("-", "_") not in patterns:
                continue
            pattern = patterns[found[1].replace("-", "_")]
            count += 1
            frame = f"hatched_{count}"
            place = list(parent).index(child)
            plain = _FILL.sub(f"fill: {_ground(pattern)}", child.get("style", ""))
            child.set("style", plain)
            if child.tag == "path":
                clip = Element("clipPath", {"id": frame})
                corners = " ".join(f"{x},{y}" for x, y in _PAIR.findall(child.get("d", "")))
                clip.append(Element("polygon", {"points": corners}))
                holder = Element("defs")
                holder.append(clip)
                parent.insert(place, holder)
                for offset, line in enumerate(_tiles(pattern, child.get("d", ""))):
                    line.set("clip-path", f"url(#{frame})")
                    parent.insert(place + 2 + offset, line)
    for parent in list(root.iter()):
        for child in [each for each in parent if each.tag == "pattern"]:
            parent.remove(child)


def _ground(pattern: Element) -> str:
    for rect in pattern.iter("rect"):
        found = re.search(r"fill:\s*(#\w+)", rect.get("style", ""))
        if found:
            return found[1]
    return "none"


def _tiles(pattern: Element, shape: str) -> Iterator[Element]:
    """The lines of a pattern, once for each tile that meets the shape."""
    across, down = float(pattern.get("width", 72)), float(pattern.get("height", 72))
    points = [(float(x), float(y)) for x, y in _PAIR.findall(shape)]
    if not points:
        return
    xs, ys = [x for x, _ in points], [y for _, y in points]
    columns = range(int(min(xs) // across), int(max(xs) // across) + 1)
    rows = range(int(min(ys) // down), int(max(ys) // down) + 1)
    for line in pattern.iter("path"):
        for column, row in product(columns, rows):
            tile = deepcopy(line)
            tile.set("d", _moved(line.get("d", ""), column * across, row * down))
            yield tile


def _moved(path: str, right: float, down: float) -> str:
    """The path elsewhere; matplotlib writes absolute coordinates only."""
    return _PAIR.sub(lambda pair: f"{float(pair[1]) + right:g} {float(pair[2]) + down:g}", path)
