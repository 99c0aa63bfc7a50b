"""The study `logs`: published thresholds, vectors and examples, and figures of generated logs."""

from __future__ import annotations

from celosia.lab.study import Part, family

STUDIES = family(
    "logs",
    Part("keys"),
    Part("sets"),
    Part("addresses"),
    Part("searches"),
    Part("audits"),
)
"""The whole and its parts."""
