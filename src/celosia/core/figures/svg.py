"""A drawing that may be put inside a page: checked for anything that runs or fetches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

SVG_NAMESPACE = "http://www.w3.org/2000/svg"
"""The name that makes `<svg>` a drawing; a name only, which is never fetched."""

_ELEMENTS = frozenset(
    {"svg", "g", "defs", "clipPath", "pattern", "use", "text", "tspan", "title", "desc"}
    | {"path", "rect", "circle", "ellipse", "line", "polyline", "polygon"}
)
"""What a figure is made of. No script, style, image, link, animation or foreignObject."""

_REFERENCE = re.compile(r"url\(#([^)\"']+)\)")


@dataclass(frozen=True, slots=True)
class Svg:
    """One `<svg>` element that holds shapes and text, and nothing that runs or fetches.

    Raises:
        ValueError: the markup is not such an element.

    >>> Svg('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1"/></svg>')
    Svg(82 characters)
    >>> Svg('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>')
    Traceback (most recent call last):
        ...
    ValueError: this SVG cannot be put in a report: the attribute 'onload' of <svg> may run code.
    """

    markup: str

    def __post_init__(self) -> None:
        for problem in _problems(self.markup):
            raise ValueError(f"this SVG cannot be put in a report: {problem}.")

    def __str__(self) -> str:
        return self.markup

    def __repr__(self) -> str:
        return f"Svg({len(self.markup)} characters)"

    def _repr_svg_(self) -> str:
        """The drawing itself, in a notebook."""
        return self.markup

    def prefixed(self, prefix: str) -> Svg:
        """The same drawing with `prefix` before every id, so that it meets no namesake in a page.

        >>> drawing = Svg('<svg xmlns="http://www.w3.org/2000/svg"><path id="a" d="M0 0"/>'
        ...               '<use href="#a"/></svg>')
        >>> print(str(drawing.prefixed("one-"))[40:])
        <path id="one-a" d="M0 0" /><use href="#one-a" /></svg>
        """
        root = parse(self.markup)
        rename_ids(root, prefix)
        return Svg(serialise(root))


def parse(markup: str) -> Element:
    """The tree of an SVG with plain names: no namespace on elements, `href` without `xlink:`."""
    # No entities can reach the parser: `Svg` refuses "<!", and matplotlib writes none.
    root = ElementTree.fromstring(markup)  # noqa: S314 - see the line above
    for element in root.iter():
        element.tag = _local(element.tag)
        for name in [name for name in element.attrib if "}" in name]:
            element.attrib.setdefault(_local(name), element.attrib.pop(name))
    return root


def serialise(root: Element) -> str:
    """The markup of a tree made by `parse`: no prolog, one namespace."""
    root.attrib = {"xmlns": SVG_NAMESPACE} | root.attrib
    return ElementTree.tostring(root, encoding="unicode").strip()


def rename_ids(root: Element, prefix: str) -> None:
    """Put `prefix` before every id and every reference to one."""
    for element in root.iter():
        for name, value in element.attrib.items():
            if name == "id":
                element.set(name, prefix + value)
            elif name == "href":
                element.set(name, "#" + prefix + value.removeprefix("#"))
            elif "url(" in value:
                element.set(name, _REFERENCE.sub(rf"url(#{prefix}\1)", value))


def referenced_ids(root: Element) -> set[str]:
    """The ids that some part of the drawing refers to."""
    found: set[str] = set()
    for element in root.iter():
        found.update(_REFERENCE.findall(" ".join(element.attrib.values())))
        found.add(element.get("href", "").removeprefix("#"))
    return found - {""}


def _problems(markup: str) -> Iterator[str]:
    # Comments, CDATA and entities are read differently by HTML and XML parsers: what the check
    # takes for text, a browser could take for an element.
    if "<!" in markup or "<?" in markup:
        yield "it holds a comment, a declaration or a processing instruction"
        return
    try:
        root = ElementTree.fromstring(markup)  # noqa: S314 - declarations were refused above
    except ElementTree.ParseError:
        yield "it is not well-formed XML"
        return
    if root.tag != f"{{{SVG_NAMESPACE}}}svg":
        yield "it is not an <svg> element"
    for element in root.iter():
        tag = _local(element.tag)
        if tag not in _ELEMENTS:
            yield f"<{tag}> is not a shape or a text"
        for name, value in element.attrib.items():
            yield from _attribute_problems(tag, _local(name), value)


def _attribute_problems(tag: str, name: str, value: str) -> Iterator[str]:
    if name.lower().startswith("on"):
        yield f"the attribute '{name}' of <{tag}> may run code"
    if name.lower() in {"href", "src", "base"} and not value.startswith("#"):
        yield f"the attribute '{name}' of <{tag}> points outside the drawing"
    # A backslash can hide the word `url` from this check, but not from a style sheet.
    foreign = _REFERENCE.sub("", value).lower()
    if name != "d" and any(mark in foreign for mark in ("url(", "\\", "@import", "image(")):
        yield f"the attribute '{name}' of <{tag}> may fetch something"


def _local(name: str) -> str:
    return name.rpartition("}")[2]
