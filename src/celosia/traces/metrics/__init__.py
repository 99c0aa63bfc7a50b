"""What published traces are still good for: density, trips, ranges, hours and displacement."""

from celosia.traces.metrics.utility import TraceUtility, compare

__all__ = ["TraceUtility", "compare"]
