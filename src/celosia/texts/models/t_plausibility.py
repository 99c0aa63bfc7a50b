"""t-plausibility: at least t texts could have led to the published one."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from celosia.core.errors import PrivacyError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.texts.detection.tokens import TermList, words_of
from celosia.texts.documents import Span
from celosia.texts.lexicon import Lexicon, sample
from celosia.texts.models.model import ModelResult, RemainingTexts, Selected, TextModel


@dataclass(frozen=True)
class TPlausibility(TextModel):
    """Generalise the terms of the lexicon until t base texts could have led to each text.

    Guarantee (Anandan et al. 2012): the product, over the generalised terms of a document, of the
    number of leaves below each is at least `t`. Leaves are counted in the lexicon, not in the data.
    It assumes that the terms are independent: it is a count of texts, not a probability.
    """

    method_name: ClassVar[str] = "t-plausibility"

    t: int = parameter(10, least=2, start=10, is_main=True)

    def apply(self, texts: RemainingTexts) -> ModelResult:
        """For each document the places that take a more general term."""
        lexicon = sample()
        terms = TermList((term, node) for node, pairs in lexicon.terms.items() for _, term in pairs)
        taken: dict[int, list[tuple[int, int]]] = {}
        for each in texts.findings:
            taken.setdefault(each.span.document, []).append((each.span.start, each.span.end))
        selected: list[Selected] = []
        failed = 0
        for document in texts.collection:
            words = words_of(document.text)
            places = [
                (words.starts[first], words.ends[last], node)
                for first, last, node in terms.find(words)
                if not any(
                    a < words.ends[last] and words.starts[first] < b
                    for a, b in taken.get(document.number, ())
                )
            ]
            nodes = sorted({node for _, _, node in places})
            if not nodes:
                continue
            chosen = generalised(lexicon, nodes, self.t)
            if chosen is None:
                failed += 1
                continue
            new = dict(zip(nodes, chosen, strict=True))
            selected += [
                Selected(
                    Span(document.number, start, end - start),
                    lexicon.name(new[node], document.language),
                )
                for start, end, node in places
                if new[node] != node
            ]
        if failed:
            raise PrivacyError("CEL-N032", documents=failed, t=self.t)
        return ModelResult(tuple(selected), {"terms_generalised": len(selected)})

    def promise(self) -> str:
        """At least t texts."""
        return Message("texts.promise.t_plausibility", t=self.t)

    def assumes(self) -> tuple[str, ...]:
        """Independent words."""
        return (Message("texts.assumes.independent"),)


def plausibility(lexicon: Lexicon, nodes: Sequence[str]) -> int:
    """How many base texts could have led to these terms."""
    return prod(lexicon.leaves(node) for node in nodes)


def generalised(lexicon: Lexicon, nodes: Sequence[str], t: int) -> tuple[str, ...] | None:
    """The choice with at least t base texts that loses least information; None if there is none.

    A best-first search over the levels of each term, by the information lost so far: the first
    choice that it takes out with enough base texts is the cheapest.
    """
    start = tuple(nodes)
    full = sum(lexicon.information(node) for node in nodes)
    waiting: list[tuple[float, tuple[str, ...]]] = [(0.0, start)]
    seen = {start}
    while waiting:
        _, choice = heapq.heappop(waiting)
        if plausibility(lexicon, choice) >= t:
            return choice
        if len(seen) > _MOST:
            return _greedy(lexicon, nodes, t)
        for at, node in enumerate(choice):
            above = lexicon.parent(node)
            if above is not None:
                following = (*choice[:at], above, *choice[at + 1 :])
                if following not in seen:
                    seen.add(following)
                    lost = full - sum(lexicon.information(each) for each in following)
                    heapq.heappush(waiting, (lost, following))
    return None


_MOST = 20_000
"""Choices that are compared before the search becomes greedy."""


def _greedy(lexicon: Lexicon, nodes: Sequence[str], t: int) -> tuple[str, ...] | None:
    choice = list(nodes)
    while plausibility(lexicon, choice) < t:
        steps = [
            (lexicon.information(node) - lexicon.information(above), at, above)
            for at, node in enumerate(choice)
            if (above := lexicon.parent(node)) is not None
        ]
        if not steps:
            return None
        _, at, above = min(steps)
        choice[at] = above
    return tuple(choice)
