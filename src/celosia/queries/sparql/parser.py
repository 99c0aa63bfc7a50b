"""Text to the syntax tree of one SELECT query, by rdflib's parser and nothing else of rdflib."""

from __future__ import annotations

from copy import copy
from functools import cache
from typing import Any

from celosia.queries.sparql.refusals import no_parser, not_sparql, refusal
from celosia.queries.sparql.scanner import scan
from celosia.queries.sparql.trees import name_of, part_of


def parse(query: str) -> tuple[Any, dict[str, str]]:
    """The tree of the one SELECT query of a text, and the prefixes that it declares.

    Names are left as they are written, and numbers of quoted literals as well: rdflib would spell
    some of them anew. Nothing is fetched or evaluated.

    Raises:
        InputError: CEL-Q240, the text is not SPARQL.
        QueryRefused: CEL-Q242 to CEL-Q247, CEL-Q260 and CEL-Q261.
        EngineError: CEL-Q229, rdflib is not installed.
    """
    words = scan(query)
    prologue, tree = _tree(query)
    if name_of(tree) != "SelectQuery":
        raise not_sparql("CEL-Q240.not_a_select", at=words[0].place)
    declared = {
        str(part_of(each, "prefix") or ""): str(each["iri"])
        for each in prologue
        if each.name == "PrefixDecl"
    }
    return tree, declared


def _tree(query: str) -> tuple[Any, Any]:
    try:  # 0.3 s, only where SPARQL is read
        from pyparsing import ParseBaseException
        from rdflib.plugins.sparql.parser import parseQuery
    except ImportError:
        raise no_parser() from None
    try:
        if "#" in query or "\\" in query:  # there may be a comment or an escape
            prologue, tree = parseQuery(query)
        else:
            prologue, tree = _without_comments().parse_string(query, parse_all=True)
    except ParseBaseException as error:
        raise not_sparql("CEL-Q240.unreadable", at=(error.lineno, error.column)) from None
    except RecursionError:
        raise refusal("CEL-Q243.too_deep") from None
    except Exception:  # a fault of the parser on odd text is still no SPARQL
        raise not_sparql("CEL-Q240.unreadable") from None
    return prologue, tree


@cache
def _without_comments() -> Any:
    """The same grammar for texts without comments, which are looked for before every word.

    That takes half of the time of `parseQuery`. rdflib's own grammar stays as it is.
    """
    from rdflib.plugins.sparql.parser import Query

    made: dict[int, Any] = {}

    def plain(element: Any) -> Any:
        if id(element) not in made:
            made[id(element)] = same = copy(element)
            same.ignoreExprs = []
            if getattr(element, "expr", None) is not None:
                same.expr = plain(element.expr)
            if hasattr(element, "exprs"):
                same.exprs = [plain(each) for each in element.exprs]
        return made[id(element)]

    return plain(Query)
