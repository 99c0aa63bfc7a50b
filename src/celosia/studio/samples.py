"""Data to begin with: what a door offers before a visitor brings anything."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One data set to choose; its title and what is said of it are sentences of the catalogues."""

    name: str
    title: str
    about: str
    rows: int = 0
    columns: int = 0
    command: str = ""
    """How to get it as a file; empty where the studio alone hands it out."""
    python: str = ""
    """How Python makes it."""
