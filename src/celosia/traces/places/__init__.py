"""Places and their generalisation: grids, geohashes, H3 cells, areas given as polygons."""

from celosia.traces.places.areas import Areas
from celosia.traces.places.levels import Level, place_levels, time_levels
from celosia.traces.places.tables import place_hierarchy, time_hierarchy

__all__ = ["Areas", "Level", "place_hierarchy", "place_levels", "time_hierarchy", "time_levels"]
