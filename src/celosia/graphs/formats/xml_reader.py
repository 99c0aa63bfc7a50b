"""XML read tag by tag: document types and entities are refused, whatever they would do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from xml.parsers import expat

from celosia.core.errors import InputError
from celosia.graphs.formats.parsed_graph import malformed


class XmlReader(ABC):
    """Follows the tags of a file; names come without their namespaces."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = ""
        """The text since the last tag."""

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

    @abstractmethod
    def start(self, name: str, given: dict[str, str], line: int) -> None:
        """A tag opens."""

    @abstractmethod
    def end(self, name: str, line: int) -> None:
        """A tag closes."""
