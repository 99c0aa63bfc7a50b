"""The study `masking`: tables masked by hand in print, and the reference tables of the field.

The small tables stand in a Spanish university module on data privacy (T1 to T10), in a bachelor's
thesis of the Universidad de Cádiz (2024), and in the manual of mu-Argus. Where a print is wrong,
the cell says so by the number of its erratum, and matches when it is wrong in just that way. The
reference tables are not part of Celosía: `masking/reference` needs the folder that they lie in.
"""

from __future__ import annotations

from celosia.lab.masking import figures
from celosia.lab.study import Part, family

STUDIES = family(
    "masking",
    Part(
        "tables",
        (
            "medical",
            "small_tables",
        ),
        figures=figures.risk_map,
    ),
    Part("telemetry", ("thesis",)),
    Part("reference", needs_data=True),
)
"""The whole and its parts."""
