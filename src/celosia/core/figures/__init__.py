"""Figures for reports, as SVG that needs nothing else.

Bars, class sizes, estimates with errors, gauges, lines, distributions before and after, the
trade-off of risk and loss, the map of many maskings, small networks and trees.
No figure relies on colour alone: hatches, markers, dashes or words always say the same. Labels may
be any text; they are kept as text, shortened when long, and never read as mathematics.
"""

from celosia.core.figures.bar_chart import bars
from celosia.core.figures.class_sizes import SizeBins, size_bins, size_histogram
from celosia.core.figures.distribution_chart import before_after
from celosia.core.figures.estimate_chart import estimates
from celosia.core.figures.line_chart import lines
from celosia.core.figures.meter import gauge
from celosia.core.figures.network_chart import (
    NetworkEdge,
    NetworkPanel,
    circle,
    networks,
    tree,
)
from celosia.core.figures.risk_map import risk_map
from celosia.core.figures.svg import Svg
from celosia.core.figures.trade_off import pareto_front, trade_off

__all__ = [
    "NetworkEdge",
    "NetworkPanel",
    "SizeBins",
    "Svg",
    "bars",
    "before_after",
    "circle",
    "estimates",
    "gauge",
    "lines",
    "networks",
    "pareto_front",
    "risk_map",
    "size_bins",
    "size_histogram",
    "trade_off",
    "tree",
]
