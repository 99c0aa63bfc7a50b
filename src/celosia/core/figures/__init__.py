"""Figures for reports: bars, class sizes and gauges, as SVG that needs nothing else.

No figure relies on colour alone: hatches or words always say the same. Labels may
be any text; they are kept as text, shortened when long, and never read as mathematics.
"""

from celosia.core.figures.bar_chart import bars
from celosia.core.figures.class_sizes import SizeBins, size_bins, size_histogram
from celosia.core.figures.meter import gauge
from celosia.core.figures.svg import Svg

__all__ = ["SizeBins", "Svg", "bars", "gauge", "size_bins", "size_histogram"]
