"""How good detection is, where the truth is known: by kind, by entity, by document."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from celosia.assess.recognisers import KINDS
from celosia.core.methods import PlainValues
from celosia.texts.documents import Finding

WEIGHTS = {"direct": 1.0, "quasi": 0.3, "confidential": 0.3}
"""How much a mention of a role counts in the weighted recall."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionMeasures(PlainValues):
    """Recall and precision against known places.

    Args:
        recall: the share of characters of known places that was found, by kind.
        entity_recall: the share of direct entities of which every mention was covered.
        weighted_recall: mentions covered, weighted by role.
        leaking_documents: the share of documents with at least one direct mention not covered.
        leaking_quasi: the same for quasi-identifiers.
        precision: the share of found characters that lie in a known place.
    """

    recall: dict[str, float] = field(default_factory=dict)
    entity_recall: float
    weighted_recall: float
    leaking_documents: float
    leaking_quasi: float
    precision: float


def compare(
    found: Iterable[Finding], truth: Iterable[Finding], documents: int, *, texts: Sequence[str]
) -> DetectionMeasures:
    """Findings against the truth.

    A mention is covered if every letter and digit of it was found, whatever kind was said: what is
    replaced under a wrong kind is still replaced.
    """
    covered: dict[int, set[int]] = defaultdict(set)
    for each in found:
        covered[each.span.document].update(range(each.span.start, each.span.end))
    known: dict[int, set[int]] = defaultdict(set)
    letters: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    entities: dict[tuple[str, int], bool] = {}
    leaks: dict[str, set[int]] = {"direct": set(), "quasi": set(), "confidential": set()}
    weight = hit = 0.0
    for each in truth:
        document = each.span.document
        places = {
            at for at in range(each.span.start, each.span.end) if texts[document][at].isalnum()
        }
        known[document].update(range(each.span.start, each.span.end))
        letters[each.kind][0] += len(places)
        letters[each.kind][1] += len(places & covered[document])
        whole = places <= covered[document]
        weight += WEIGHTS[each.role]
        hit += WEIGHTS[each.role] * whole
        if not whole:
            leaks[each.role].add(document)
        if each.role == "direct":
            entity = (each.kind, each.group)
            entities[entity] = entities.get(entity, True) and whole
    wrong = right = 0
    for document, places in covered.items():
        own = {at for at in places if texts[document][at].isalnum()}
        right += len(own & known[document])
        wrong += len(own - known[document])
    return DetectionMeasures(
        recall={kind: letters[kind][1] / letters[kind][0] for kind in KINDS if letters[kind][0]},
        entity_recall=sum(entities.values()) / len(entities) if entities else 1.0,
        weighted_recall=hit / weight if weight else 1.0,
        leaking_documents=len(leaks["direct"]) / documents if documents else 0.0,
        leaking_quasi=len(leaks["quasi"]) / documents if documents else 0.0,
        precision=right / (right + wrong) if right + wrong else 1.0,
    )


__all__ = ["DetectionMeasures", "compare"]
