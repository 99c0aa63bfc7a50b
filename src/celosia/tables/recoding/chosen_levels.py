"""The outcome of a node that the officer has chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import did_you_mean
from celosia.core.numbers import whole
from celosia.tables.metrics import Loss, Metric
from celosia.tables.models import Model
from celosia.tables.recoding.lattice import Lattice
from celosia.tables.recoding.roll_up import Node
from celosia.tables.recoding.search import Certificate, SearchResult, allowance, is_searchable


def evaluate_levels(
    lattice: Lattice,
    levels: Mapping[str, int],
    models: Sequence[Model],
    suppression: float,
    metric: Metric,
) -> SearchResult:
    """The outcome of a chosen node; nothing is claimed of other nodes.

    Raises:
        InputError: CEL-P008 the levels do not fit the columns; CEL-P012 the lattice is too large
            for the metric.
        PrivacyError: CEL-P001 the node does not meet the models within the limit.
    """
    node = _node(lattice, levels)
    if not isinstance(metric, Loss) and not is_searchable(lattice):
        raise InputError(
            "CEL-P012.metric",
            columns=len(lattice.shape),
            metric=metric.method_name,
            nodes=lattice.nodes,
        )
    outcome = lattice.evaluate(node, models)
    if outcome.suppressed > min(allowance(suppression, lattice.rows), lattice.rows - 1):
        raise PrivacyError(
            "CEL-P001.chosen_levels",
            share=outcome.suppressed / lattice.rows,
            suppression=suppression,
            suppressed=outcome.suppressed,
        )
    measure = metric.over(lattice)
    certificate = Certificate(
        nodes=lattice.nodes, evaluated=1, still_open=lattice.nodes - 1, at_least=0.0
    )
    return SearchResult(outcome, measure.share(measure.score(outcome)), certificate)


def _node(lattice: Lattice, levels: Mapping[str, int]) -> Node:
    names = [column.name for column in lattice.columns]
    unknown = [name for name in levels if name not in names]
    if unknown:
        raise InputError(
            "CEL-P008.unknown_column",
            unknown=unknown[0],
            hint=did_you_mean(unknown[0], names),
            names=", ".join(names),
        )
    node = []
    for column in lattice.columns:
        level = whole(levels.get(column.name, 0))
        if level is None or not 0 <= level <= column.hierarchy.height:
            raise InputError(
                "CEL-P008.out_of_range",
                height=column.hierarchy.height,
                level=levels[column.name],
                column=column.name,
            )
        node.append(level)
    return tuple(node)
