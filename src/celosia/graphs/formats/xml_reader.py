"""Graphs in XML, read tag by tag: document types and entities are refused unread."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from xml.parsers import expat

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.graphs.formats.parsed_graph import GraphBuilder, ParsedGraph, Value, malformed

_NUMBERS = {"int": int, "integer": int, "long": int, "float": float, "double": float}
_FLAGS = {"true": True, "1": True, "false": False, "0": False}


class XmlReader(ABC):
    """Follows the tags of a file; names come without their namespaces."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = ""
        """The text since the last tag."""
        self.builder = GraphBuilder(path)
        self.directed = False
        """Whether edges of the graph have a direction, if they do not say so themselves."""
        self.open: list[tuple[str, dict[str, str], dict[str, Value], int]] = []
        """The tags that are open: their name, what they say, their values and their line."""
        self._graphs = 0

    def read(self, data: bytes) -> ParsedGraph:
        """The graph of a file.

        Raises:
            InputError: CEL-G003 it holds no graph, or several; also as `parse`.
        """
        self.parse(data)
        if not self._graphs:
            raise malformed(self.path, 1, "CEL-G003.no_graph_element")
        return self.builder.finish()

    def parse(self, data: bytes) -> None:
        """Read all of a file.

        Raises:
            InputError: CEL-G003 the XML is broken, CEL-G010 it declares a document type.
        """
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True

        def start(tag: str, given: dict[str, str]) -> None:
            self.start(tag.rpartition(" ")[2], given, parser.CurrentLineNumber)
            self.text = ""

        def end(tag: str) -> None:
            self.end(tag.rpartition(" ")[2], parser.CurrentLineNumber)

        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.CharacterDataHandler = self._take
        parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = self._refuse
        try:
            parser.Parse(data, True)
        except expat.ExpatError as error:
            raise malformed(self.path, error.lineno, "CEL-G003.broken_xml") from None
        except (LookupError, ValueError):  # raised by Python's part of the parser
            raise malformed(self.path, 1, "CEL-G003.unknown_encoding") from None

    def _take(self, part: str) -> None:
        self.text += part

    def _refuse(self, *_: object) -> None:
        raise InputError("CEL-G010", path=self.path)

    def graph(self, line: int, *, directed: bool) -> None:
        """The graph begins; a file may have one."""
        self._graphs += 1
        if self._graphs > 1:
            raise malformed(self.path, line, "CEL-G003.second_graph")
        self.directed = directed

    def vertex(self, given: dict[str, str], values: dict[str, Value], line: int) -> None:
        """A vertex is complete."""
        if "id" not in given:
            raise malformed(self.path, line, "CEL-G003.no_id")
        self.builder.vertex(given["id"], values, line)

    def edge(
        self, given: dict[str, str], values: dict[str, Value], line: int, *, directed: bool
    ) -> None:
        """An edge is complete."""
        if "source" not in given or "target" not in given:
            raise malformed(self.path, line, "CEL-G003.no_ends")
        self.builder.edge(
            given["source"], given["target"], directed=directed, values=values, line=line
        )
        if "id" in given:
            self.builder.ignore(Message("graphs.ignored.edge_ids"))

    def value(self, text: str, typed: str, line: int) -> Value:
        """A value of a declared type; of another type the text."""
        try:
            if typed in _NUMBERS:
                return _NUMBERS[typed](text)
            if typed == "boolean":
                return _FLAGS[text.strip().lower()]
        except (ValueError, KeyError):
            raise malformed(self.path, line, "CEL-G003.wrong_type", type=typed) from None
        return text

    @abstractmethod
    def start(self, name: str, given: dict[str, str], line: int) -> None:
        """A tag opens."""

    @abstractmethod
    def end(self, name: str, line: int) -> None:
        """A tag closes."""
