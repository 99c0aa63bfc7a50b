"""Syntax trees of rdflib's parser: names and parts of their nodes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

_LAYERS = (
    "ConditionalOrExpression",
    "ConditionalAndExpression",
    "RelationalExpression",
    "AdditiveExpression",
    "MultiplicativeExpression",
)

EXISTS = ("Builtin_EXISTS", "Builtin_NOTEXISTS")
"""Nodes of conditions on whether patterns match."""


def name_of(node: Any) -> str:
    """The name of a node; nothing for terms and lists."""
    return str(node.name) if isinstance(node, dict) and hasattr(node, "name") else ""


def part_of(node: Any, word: str) -> Any:
    """A part of a node; None where it has none (rdflib's own `get` would return the word)."""
    return dict.get(node, word)


def is_variable(node: Any) -> bool:
    """Whether a node is a variable."""
    import rdflib  # 0.3 s, only where SPARQL is read

    return isinstance(node, rdflib.Variable)


def is_blank(node: Any) -> bool:
    """Whether a node is a blank node."""
    import rdflib

    return isinstance(node, rdflib.BNode)


def is_shorthand(node: Any) -> bool:
    """Whether a node is a literal without quotes, for which rdflib has made a value."""
    import rdflib

    return isinstance(node, rdflib.Literal)


def strip_layers(node: Any) -> Any:
    """An expression without the layers of the grammar that do nothing."""
    while name_of(node) in _LAYERS and part_of(node, "other") is None:
        node = node["expr"]
    return node


def walk_tree(node: Any) -> Iterator[Any]:
    """A node and all that it is made of."""
    yield node
    if isinstance(node, dict):
        for each in node.values():
            yield from walk_tree(each)
    elif not isinstance(node, str) and hasattr(node, "__iter__"):
        for each in node:
            yield from walk_tree(each)


def expression_variables(node: Any, aside: Collection[str] = EXISTS) -> Iterator[Any]:
    """The variables that an expression refers to, those inside EXISTS, or the like, aside."""
    if is_variable(node):
        yield node
    elif isinstance(node, dict):
        if name_of(node) not in aside:
            for each in node.values():
                yield from expression_variables(each, aside)
    elif not isinstance(node, str) and hasattr(node, "__iter__"):
        for each in node:
            yield from expression_variables(each, aside)
