"""Conditions in the words of the query, for the description of a plan.

The words are kept beside the trees (`meta`), which run and are compared without them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlglot import exp

from celosia.queries.rdf.terms import XSD, address_text, literal_text
from celosia.queries.sparql.constants import WHOLE, Constant, TermReader
from celosia.queries.sparql.patterns import Pattern, Term, Variable
from celosia.queries.sparql.trees import is_variable, name_of, part_of, strip_layers
from celosia.queries.sql.question_text import WORDS


def attach_words(tree: exp.Expression, words: str) -> exp.Expression:
    """A tree with its words attached."""
    tree.meta[WORDS] = words
    return tree


def term_words(constant: Constant, prefixes: Sequence[tuple[str, str]]) -> str:
    """A constant with the prefixes of the policy."""
    if constant.sort == "address":
        return abbreviate_address(constant.text, prefixes)
    if constant.is_shorthand or constant.datatype in (WHOLE[0], XSD + "boolean"):
        return constant.text
    text = literal_text(constant.text, language=constant.language, datatype=constant.datatype)
    start = text.rpartition("^^")[0]
    is_typed = constant.sort not in ("string", "language") and constant.datatype is not None
    return f"{start}^^{abbreviate_address(str(constant.datatype), prefixes)}" if is_typed else text


def pattern_words(pattern: Pattern, prefixes: Sequence[tuple[str, str]]) -> str:
    """A triple pattern as it may be written."""
    subject, predicate, other = (term_or_variable(each, prefixes) for _, each in pattern.terms)
    if pattern.excluded:
        predicate = f"!({'|'.join(term_words(each, prefixes) for each in pattern.excluded)})"
    text = f"{subject} {predicate}{'+' if pattern.is_closure else ''} {other}"
    return text if pattern.graph is None else f"GRAPH {pattern.graph} {{ {text} }}"


def term_or_variable(term: Term, prefixes: Sequence[tuple[str, str]]) -> str:
    """A variable or constant as it may be written; what the query cannot name is a blank node."""
    if isinstance(term, Variable):
        return f"_:{term.name.replace(' ', '')}" if term.is_hidden else str(term)
    return term_words(term, prefixes)


def abbreviate_address(address: str, prefixes: Sequence[tuple[str, str]]) -> str:
    """An address as a prefixed name, where one is declared."""
    for prefix, start in (*prefixes, ("xsd", XSD)):
        local = address.removeprefix(start)
        if local != address and local.replace("_", "").replace("-", "").isalnum():
            return f"{prefix}:{local}"
    return address_text(address)


def words_of(  # noqa: PLR0911 - one for each kind of node
    node: Any, reader: TermReader, prefixes: Sequence[tuple[str, str]]
) -> str:
    """An expression of FILTER as it may be written."""

    def again(part: Any) -> str:
        text = words_of(part, reader, prefixes)
        is_loose = name_of(strip_layers(part)).endswith("Expression")
        return f"({text})" if is_loose else text

    node = strip_layers(node)
    if is_variable(node):
        return f"?{node}"
    match name_of(node):
        case "ConditionalAndExpression":
            return _joined(" && ", node, again)
        case "ConditionalOrExpression":
            return _joined(" || ", node, again)
        case "RelationalExpression" if str(node["op"]) in ("IN", "NOT IN"):
            listed = ", ".join(map(again, node["other"]))
            return f"{again(node['expr'])} {node['op']} ({listed})"
        case "RelationalExpression":
            return f"{again(node['expr'])} {node['op']} {again(node['other'])}"
        case "AdditiveExpression" | "MultiplicativeExpression":
            signed = zip(map(str, node["op"]), map(again, node["other"]), strict=True)
            return " ".join([again(node["expr"]), *(f"{sign} {one}" for sign, one in signed)])
        case "UnaryNot":
            return f"!{again(node['expr'])}"
        case "UnaryMinus":
            return f"-{again(node['expr'])}"
        case "UnaryPlus":
            return again(node["expr"])
        case "" | "pname" | "literal":
            return term_words(reader.constant(node), prefixes)
        case word:
            named = ("text", "pattern", "arg", "arg1", "arg2", "arg3")
            parts = [part for each in named if (part := part_of(node, each)) is not None]
            parts = [one for part in parts for one in (part if _is_list(part) else [part])]
            inner = ", ".join(words_of(each, reader, prefixes) for each in parts)
            return f"{word.removeprefix('Builtin_')}({inner})"


def _is_list(part: Any) -> bool:
    return not isinstance(part, str | dict)


def _joined(sign: str, node: Any, again: Callable[[Any], str]) -> str:
    return sign.join(map(again, [node["expr"], *node["other"]]))
