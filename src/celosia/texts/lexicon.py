"""A lexicon: terms, the more general terms above them, and how much each tells.

A text file with tabs: an identifier, the terms with `|` between them (`en:` or `es:` before those
of one language), and the identifiers above it. A term with several ones above it has the one with
the shortest way to the root, ties by the smallest identifier. The sample that comes with Celosía
has diseases, professions and places; a user gives a larger one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path

from celosia.core.errors import InputError
from celosia.core.pseudonyms.keys import normal_form
from celosia.texts.documents import Language


@dataclass(frozen=True)
class Lexicon:
    """Nodes with their terms and the one above each."""

    terms: dict[str, tuple[tuple[str, str], ...]] = field(repr=False)
    """For each node pairs of a language (or nothing) and a term."""
    parents: dict[str, tuple[str, ...]] = field(repr=False)

    @classmethod
    def load(cls, path: str | Path) -> Lexicon:
        """Read a lexicon from a file.

        Raises:
            InputError: CEL-N014 it cannot be read, or a term is above itself.
        """
        try:
            lines = Path(path).read_text("utf-8").splitlines()
        except (OSError, ValueError):
            raise InputError("CEL-N014.file", path=path) from None
        return cls.of(lines)

    @classmethod
    def of(cls, lines: Iterable[str]) -> Lexicon:
        """A lexicon from its lines."""
        terms: dict[str, tuple[tuple[str, str], ...]] = {}
        parents: dict[str, tuple[str, ...]] = {}
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            cells = line.rstrip("\n").split("\t")
            if len(cells) not in (2, 3) or cells[0] in terms:
                raise InputError("CEL-N014.line", line=number)
            pairs = []
            for each in cells[1].split("|"):
                language, mark, term = each.partition(":")
                pairs.append((language, term) if mark and len(language) == 2 else ("", each))
            terms[cells[0]] = tuple(pairs)
            parents[cells[0]] = tuple((cells[2] if len(cells) == 3 else "").split())
        made = cls(terms, parents)
        made.check()
        return made

    def check(self) -> None:
        """Refuse a term above that is missing, and a circle."""
        for node, above in self.parents.items():
            if any(each not in self.terms for each in above):
                raise InputError("CEL-N014.parent", node=node)
        if len(self._depths) < len(self.terms):
            raise InputError("CEL-N014.circle", nodes=len(self.terms) - len(self._depths))

    @cached_property
    def _children(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {node: [] for node in self.terms}
        for node, above in self.parents.items():
            for each in above:
                found[each].append(node)
        return found

    @cached_property
    def _depths(self) -> dict[str, int]:
        """The shortest way to a root."""
        level = [node for node, above in self.parents.items() if not above]
        found: dict[str, int] = {}
        depth = 0
        while level:
            following = []
            for node in level:
                if node not in found:
                    found[node] = depth
                    following += self._children[node]
            level, depth = following, depth + 1
        return found

    @cached_property
    def _nodes(self) -> dict[str, str]:
        """The first node of each term."""
        found: dict[str, str] = {}
        for node, pairs in self.terms.items():
            for _, term in pairs:
                found.setdefault(normal_form(term), node)
        return found

    @cached_property
    def _tree(self) -> dict[str, list[str]]:
        """The nodes whose chosen parent is each node."""
        found: dict[str, list[str]] = {node: [] for node in self.terms}
        for node in self.terms:
            above = self.parent(node)
            if above is not None:
                found[above].append(node)
        return found

    def node(self, term: str) -> str | None:
        """The node of a term; None where it has none."""
        return self._nodes.get(normal_form(term))

    def parent(self, node: str) -> str | None:
        """The node above: the one nearest to the root, then the smallest identifier."""
        above = self.parents[node]
        return min(above, key=lambda each: (self._depths[each], each)) if above else None

    def path(self, node: str) -> list[str]:
        """The node and all above it, up to the root."""
        found = [node]
        while (above := self.parent(found[-1])) is not None:
            found.append(above)
        return found

    def leaves(self, node: str) -> int:
        """How many nodes without any below lie under a node by the chosen ways; 1 for such a node.

        A word that was generalised to the node was one of them: it climbed by its chosen way.
        """
        return self._leaves[node]

    def below(self, node: str) -> int:
        """How many nodes lie under a node by any way, itself included."""
        return self._below[node]

    @cached_property
    def _leaves(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for node in sorted(self.terms, key=lambda each: -len(self.path(each))):
            found[node] = sum(found[each] for each in self._tree[node]) or 1
        return found

    @cached_property
    def _below(self) -> dict[str, int]:
        found = dict.fromkeys(self.terms, 0)
        for node in self.terms:
            seen, waiting = {node}, [node]
            while waiting:
                new = set(self.parents[waiting.pop()]) - seen
                seen |= new
                waiting += new
            for each in seen:
                found[each] += 1
        return found

    def information(self, node: str) -> float:
        """Intrinsic information content: 1 for a term without any below, 0 for one above all.

        IC = 1 - ln(nodes below with itself) / ln(all nodes) (Seco, Veale & Hayes 2004).
        """
        if len(self.terms) < 2:
            return 1.0
        return 1 - math.log(self.below(node)) / math.log(len(self.terms))

    def name(self, node: str, language: Language) -> str:
        """The first term of a node in a language."""
        pairs = self.terms[node]
        own = [term for spoken, term in pairs if spoken in ("", language)]
        return own[0] if own else pairs[0][1]


@cache
def sample() -> Lexicon:
    """The lexicon that comes with Celosía."""
    text = files(__package__).joinpath("data", "lexicon.tsv").read_text("utf-8")
    return Lexicon.of(text.splitlines())
