"""Differential privacy for traces: maps, visits, flows, synthetic traces; a person is hidden."""

from celosia.traces.private.areas import Flows, PlaceFlows, Visits
from celosia.traces.private.bounding import bounded
from celosia.traces.private.collection import (
    Transitions,
    cell_protocol,
    collect_cells,
    collect_transitions,
    random_cells,
    random_transitions,
    size_of_moves,
    synthetic_from,
    transition_names,
    transition_protocol,
    transitions_from,
)
from celosia.traces.private.grids import AdaptiveGrid, Quadtree, UniformGrid, advised_size
from celosia.traces.private.mechanism import TraceMechanism, one_unit
from celosia.traces.private.statistics import flows, grid, release, visits
from celosia.traces.private.synthetic_traces import SyntheticTraces, synthetic

__all__ = [
    "AdaptiveGrid",
    "Flows",
    "PlaceFlows",
    "Quadtree",
    "SyntheticTraces",
    "TraceMechanism",
    "Transitions",
    "UniformGrid",
    "Visits",
    "advised_size",
    "bounded",
    "cell_protocol",
    "collect_cells",
    "collect_transitions",
    "flows",
    "grid",
    "one_unit",
    "random_cells",
    "random_transitions",
    "release",
    "size_of_moves",
    "synthetic",
    "synthetic_from",
    "transition_names",
    "transition_protocol",
    "transitions_from",
    "visits",
]
