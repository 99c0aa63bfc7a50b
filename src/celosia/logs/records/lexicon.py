"""A lexicon: words that mean a node, and the nodes above it, as a tree.

The file is tab-separated: id, lemmas joined by |, parents separated by blanks. A node with several
parents keeps the one with the shortest way to the root, ties by the smallest id; or, where asked
for, the one that the file lists first, as the makers of a lexicon list the main one first.
"""

from __future__ import annotations

import unicodedata
from collections import deque
from dataclasses import dataclass, field
from functools import cached_property
from math import log
from pathlib import Path
from typing import Literal, Self

from celosia.core.errors import InputError
from celosia.frames.formats import check_readable, open_bytes

_SUFFIXES = (
    ("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"),
    ("ces", "z"), ("iones", "ión"), ("es", "e"), ("es", ""), ("s", ""),
)  # fmt: skip
"""Plural endings of English and Spanish nouns, and what stands in their place."""

_SHORTEST = 3
"""Letters that are left of a word without its plural ending."""


Parent = Literal["shortest", "first"]
"""Which parent is kept of several: that with the shortest way to the root, or the first listed."""


@dataclass(frozen=True, eq=False)
class Lexicon:
    r"""Nodes with their lemmas; the parent of the root is itself.

    >>> lexicon = Lexicon.parse(["1\tthing\t", "2\tillness|disease\t1", "3\tflu\t2"])
    >>> [lexicon.label(node) for node in lexicon.chain(lexicon.find("Flus"))]
    ['flu', 'illness', 'thing']
    """

    labels: tuple[str, ...] = field(repr=False)
    """The first lemma of each node."""
    parents: tuple[int, ...] = field(repr=False)
    nodes_of: dict[str, tuple[int, ...]] = field(repr=False)
    """The nodes that each lemma may mean, the first sense first."""
    above: tuple[tuple[int, ...], ...] = field(default=(), repr=False)
    """All parents of each node, for counting what is below a node."""

    @property
    def several_parents(self) -> int:
        """How many nodes have more parents than the one that is kept."""
        return sum(len(each) > 1 for each in self.above)

    @classmethod
    def read(cls, path: str | Path, *, parent: Parent = "shortest") -> Self:
        """The lexicon in a file, also packed (.gz).

        Raises:
            InputError: CEL-U050 it is no lexicon, CEL-U051 nodes go round in a circle.
        """
        file = Path(path)
        check_readable(file)
        with open_bytes(file) as stream:
            data = stream.read()
        try:
            lines = data.decode("utf-8").splitlines()
        except UnicodeDecodeError:
            raise InputError("CEL-U050", path=str(file), line=0) from None
        return cls.parse(lines, name=str(file), parent=parent)

    @classmethod
    def parse(cls, lines: list[str], *, name: str = "lexicon", parent: Parent = "shortest") -> Self:
        """The lexicon of some lines; see `read`."""
        number: dict[str, int] = {}
        rows: list[tuple[list[str], list[str]]] = []
        ids: list[str] = []
        for line, text in enumerate(lines, 1):
            if not text.strip():
                continue
            parts = text.split("\t")
            lemmas = [each.strip() for each in parts[1].split("|")] if len(parts) > 1 else []
            if len(parts) not in (2, 3) or not all(lemmas) or parts[0] in number:
                raise InputError("CEL-U050", path=name, line=line)
            number[parts[0]] = len(rows)
            ids.append(parts[0])
            rows.append((lemmas, parts[2].split() if len(parts) == 3 else []))
        if not rows:
            raise InputError("CEL-U050", path=name, line=0)
        try:
            above = [[number[each] for each in parents] for _, parents in rows]
        except KeyError:
            raise InputError("CEL-U050", path=name, line=0) from None
        parents = _one_parent(above, ids, parent)
        nodes: dict[str, list[tuple[bool, int]]] = {}
        for node, (lemmas, _) in enumerate(rows):
            for lemma in lemmas:
                nodes.setdefault(fold(lemma), []).append((lemma != lemma.lower(), node))
        return cls(
            tuple(lemmas[0].replace("_", " ") for lemmas, _ in rows),
            tuple(parents),
            # Common nouns before names: cancer the illness before Cancer the constellation.
            {
                lemma: tuple(dict.fromkeys(node for _, node in sorted(found)))
                for lemma, found in nodes.items()
            },
            tuple(map(tuple, above)),
        )

    def label(self, node: int) -> str:
        """What a node is called."""
        return self.labels[node]

    def chain(self, node: int | None) -> list[int]:
        """A node and all above it, up to the root; nothing for no node."""
        if node is None:
            return []
        found = [node]
        while self.parents[found[-1]] != found[-1]:
            found.append(self.parents[found[-1]])
        return found

    @cached_property
    def sizes(self) -> list[int]:
        """How many nodes are below each by any way, itself included."""
        found = [0] * len(self.labels)
        for node in range(len(self.labels)):
            seen, waiting = {node}, [node]
            while waiting:
                for each in self.above[waiting.pop()]:
                    if each not in seen:
                        seen.add(each)
                        waiting.append(each)
            for each in seen:
                found[each] += 1
        return found

    def information(self, node: int) -> float:
        """How much a node tells, see `information_of`."""
        return information_of(self.sizes[node], len(self.labels))

    def find(self, text: str) -> int | None:
        """The node that a text means: of its longest known phrases; None where it knows none.

        One noun gives its first sense; several give the lowest node above the two that tell most.
        """
        found = self._phrases(text)
        if not found:
            return None
        ranked = sorted(set(found), key=lambda node: (-self.information(node), node))
        if len(ranked) == 1:
            return ranked[0]
        return self.above_both(ranked[0], ranked[1])

    def is_ambiguous(self, text: str) -> bool:
        """Whether a word of a text has several senses, of which the first was taken."""
        return any(len(self.nodes_of[each]) > 1 for each in self._lemmas(text))

    def above_both(self, one: int, other: int) -> int:
        """The lowest node above two."""
        ancestors = set(self.chain(one))
        return next(node for node in self.chain(other) if node in ancestors)

    def _phrases(self, text: str) -> list[int]:
        return [self.nodes_of[lemma][0] for lemma in self._lemmas(text)]

    def _lemmas(self, text: str) -> list[str]:
        words = fold(text).split(" ")
        found, start = [], 0
        while start < len(words):
            for end in range(min(len(words), start + 5), start, -1):
                lemma = self._known(" ".join(words[start:end]))
                if lemma is not None:
                    found.append(lemma)
                    start = end
                    break
            else:
                start += 1
        return found

    def _known(self, phrase: str) -> str | None:
        if phrase in self.nodes_of:
            return phrase
        for ending, instead in _SUFFIXES:
            stem = phrase.removesuffix(ending)
            if stem != phrase and len(stem) >= _SHORTEST and stem + instead in self.nodes_of:
                return stem + instead
        return None


def fold(text: str) -> str:
    """A lemma in the form in which lemmas are compared: accents stay, case and underscores go."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().replace("_", " ").split())


def information_of(below: int, nodes: int) -> float:
    """Intrinsic information content of a node with so many below it, itself included.

    1 for a leaf, 0 for the root (Seco, Veale & Hayes 2004).

    >>> [round(information_of(below, 82_115), 3) for below in (12, 50, 606, 692)]
    [0.78, 0.654, 0.434, 0.422]
    """
    return 1 - log(below) / log(nodes) if nodes > 1 else 0.0


def _one_parent(above: list[list[int]], ids: list[str], kept: Parent) -> list[int]:
    """For each node the parent that is kept; several roots get the first root.

    Raises:
        InputError: CEL-U051 a node has no way to a root.
    """
    roots = [node for node, each in enumerate(above) if not each]
    depth: dict[int, int] = dict.fromkeys(roots, 0)
    below: list[list[int]] = [[] for _ in above]
    for node, each in enumerate(above):
        for parent in each:
            below[parent].append(node)
    waiting = deque(roots)
    while waiting:
        node = waiting.popleft()
        for child in below[node]:
            if child not in depth:
                depth[child] = depth[node] + 1
                waiting.append(child)
    lost = len(above) - len(depth)
    if lost:
        raise InputError("CEL-U051", count=lost)
    if kept == "first":
        return _first_parents(above, roots[0])
    return [
        min(each, key=lambda parent: (depth[parent], ids[parent])) if each else roots[0]
        for each in above
    ]


def _first_parents(above: list[list[int]], root: int) -> list[int]:
    """The first parent of each node.

    A circle that only the parents not kept would leave is one all the same.

    Raises:
        InputError: CEL-U051 first parents go round in a circle.
    """
    found = [each[0] if each else root for each in above]
    ends = [not each for each in above]  # whether the way up is known to end
    for start in range(len(found)):
        node, way = start, set[int]()
        while not ends[node]:
            if node in way:
                raise InputError("CEL-U051", count=len(way))
            way.add(node)
            node = found[node]
        for each in way:
            ends[each] = True
    return found
