"""Differential privacy for graphs: statistics that protect one edge or one vertex."""

from celosia.graphs.private.bounded_counts import BoundedStarCount, BoundedTriangleCount
from celosia.graphs.private.community_structure import CommunityStrength, DampedSpectrum
from celosia.graphs.private.counts import BoundedEdgeCount, EdgeCount, StarCount, TriangleCount
from celosia.graphs.private.degree_histograms import BoundedDegreeHistogram, DegreeHistogram
from celosia.graphs.private.degree_sequence import DegreeSequence, graphical_degrees
from celosia.graphs.private.joint_degrees import JointDegrees
from celosia.graphs.private.mechanism import ONE_EDGE, ONE_VERTEX, GraphMechanism
from celosia.graphs.private.statistics import (
    degree_histogram,
    degree_sequence,
    edge_count,
    joint_degrees,
    release,
    star_count,
    triangle_count,
)
from celosia.graphs.private.synthetic_graph import PrivateGraph

__all__ = [
    "ONE_EDGE",
    "ONE_VERTEX",
    "BoundedDegreeHistogram",
    "BoundedEdgeCount",
    "BoundedStarCount",
    "BoundedTriangleCount",
    "CommunityStrength",
    "DampedSpectrum",
    "DegreeHistogram",
    "DegreeSequence",
    "EdgeCount",
    "GraphMechanism",
    "JointDegrees",
    "PrivateGraph",
    "StarCount",
    "TriangleCount",
    "degree_histogram",
    "degree_sequence",
    "edge_count",
    "graphical_degrees",
    "joint_degrees",
    "release",
    "star_count",
    "triangle_count",
]
