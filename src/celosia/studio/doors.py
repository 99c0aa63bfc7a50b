"""The doors of the studio, as every page and every error page lists them."""

from __future__ import annotations

DOORS = (
    ("/learn", "Learn", "school"),
    ("/publish", "Publish", "table_view"),
    ("/mask", "Mask and synthesise", "blur_on"),
    ("/graphs", "Graphs", "hub"),
    ("/traces", "Traces", "location_on"),
    ("/texts", "Documents", "description"),
    ("/logs", "Logs", "list_alt"),
    ("/collect", "Collect", "sensors"),
    ("/query", "Query", "query_stats"),
    ("/statistics", "Statistics", "insights"),
)
"""Address, name (a key of the catalogue) and icon of each door."""
