"""Semantic generalisation: a query becomes a concept that at least k persons share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source
from celosia.logs.log import Log
from celosia.logs.method import LogMethod, MethodResult
from celosia.logs.records.identifiers import holds_identifier
from celosia.logs.records.lexicon import Lexicon, Parent

OTHER = "other"
"""What a query becomes that the lexicon does not know."""


def _path(value: Any) -> str:
    if not isinstance(value, str | Path) or not str(value):
        raise ValueError
    return str(value)


@dataclass(frozen=True, kw_only=True)
class SemanticGeneralisation(LogMethod):
    """Every query is replaced by the lowest concept of a lexicon that at least k persons share.

    A query is mapped to the first sense of its nouns. From the most special concepts up, the
    records of a concept with fewer than k persons join its parent's; what does not reach k at the
    root is dropped. Queries that the lexicon does not know become `other`.

    Guarantee: every published concept stands for the queries of at least k persons. A wrong sense
    costs truth, not privacy.
    """

    method_name: ClassVar[str] = "semantic-generalisation"

    lexicon: str = parameter(
        kind="text", check=_path, allowed="logs.allowed.lexicon", example='"lexicon.tsv"'
    )
    k: int = parameter(5, least=2, is_main=True)
    least_information: float = parameter(0.0, least=0, most=1)
    parent: Parent = parameter("shortest")

    def promise(self) -> str:
        return Message("logs.promise.semantic", k=self.k)

    def leaves_open(self) -> tuple[str, ...]:
        return (Message("logs.open.combinations"), Message("logs.open.counts"))

    def apply(self, log: Log, *, rng: Source, progress: Progress = silent) -> MethodResult[Log]:
        """Replace the queries.

        Raises:
            InputError: CEL-U010 no person or no query; CEL-U050, CEL-U051 no lexicon.
            PrivacyError: CEL-U040 fewer than k persons; CEL-U041 no record is left.
        """
        progress(Step(self.method_name, 0))
        if log.persons < self.k:
            raise PrivacyError("CEL-U040", k=self.k, count=log.persons)
        lexicon = Lexicon.read(self.lexicon, parent=self.parent)
        name = log.declaration.text
        if name is None:
            raise InputError("CEL-U010", role="text")
        codes, texts = log.queries
        named = holds_identifier(texts)
        found = [lexicon.find(text) for text in texts]
        unknown = np.array([each is None for each in found])
        places = np.array([-1 if each is None else each for each in found], dtype=np.int64)
        chosen = generalised_nodes(lexicon, places[codes], log.people, self.k, drop=named[codes])
        labels = [lexicon.label(node) for node in range(len(lexicon.labels))]
        shown = pl.Series([*labels, OTHER], dtype=pl.String)
        other = np.flatnonzero(unknown[codes] & ~named[codes])
        if np.unique(log.people[other]).size >= self.k:
            chosen[other] = len(labels)
        is_kept = chosen >= 0
        if self.least_information:
            too_vague = np.array(
                [lexicon.information(node) < self.least_information for node in range(len(labels))]
                + [False]
            )
            is_kept &= ~too_vague[chosen]
        if not is_kept.any():
            raise PrivacyError("CEL-U041", k=self.k)
        frame = log.frame.with_columns(shown.gather(np.maximum(chosen, 0)).alias(name))
        facts = {
            "queries_before": len(texts),
            "concepts_after": int(np.unique(chosen[is_kept]).size),
            "queries_not_in_the_lexicon": int(unknown.sum()),
            "ambiguous_queries": sum(map(lexicon.is_ambiguous, texts)),
            "nodes_with_several_parents": lexicon.several_parents,
            "share_of_records_kept": float(is_kept.mean()),
        }
        return MethodResult(data=replace(log, frame=frame).kept(is_kept), facts=facts)


def generalised_nodes(
    lexicon: Lexicon,
    nodes: np.ndarray[Any, np.dtype[np.int64]],
    people: np.ndarray[Any, np.dtype[np.int32]],
    k: int,
    *,
    drop: np.ndarray[Any, np.dtype[np.bool_]],
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The node that each record is published as; -1 where it is dropped."""
    chosen = np.full(len(nodes), -1, dtype=np.int64)
    waiting: dict[int, list[np.ndarray[Any, np.dtype[np.int64]]]] = {}
    order = np.argsort(nodes, kind="stable")
    values, starts = np.unique(nodes[order], return_index=True)
    for value, rows in zip(values.tolist(), np.split(order, starts[1:]), strict=True):
        if value >= 0:
            waiting[value] = [rows[~drop[rows]]]
    by_depth: dict[int, list[int]] = {}
    for node in {each for start in waiting for each in lexicon.chain(start)}:
        by_depth.setdefault(len(lexicon.chain(node)), []).append(node)
    for depth in sorted(by_depth, reverse=True):
        for node in by_depth[depth]:
            if node not in waiting:
                continue
            rows = np.concatenate(waiting.pop(node))
            if np.unique(people[rows]).size >= k:
                chosen[rows] = node
            elif lexicon.parents[node] != node:
                waiting.setdefault(lexicon.parents[node], []).append(rows)
    return chosen
