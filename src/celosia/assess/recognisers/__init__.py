"""Recognisers of identifiers inside texts: patterns, check digits and the words around a number.

Pure functions from a text to places in it. `find` gives every identifier of a text with its kind
and a score; `KINDS` is the closed list of kinds. No list of names is in here: people, places and
dates in prose are found by the door of documents.
"""

from celosia.assess.recognisers.identifiers import Match, find
from celosia.assess.recognisers.kinds import KINDS, ROLES, Role

__all__ = ["KINDS", "ROLES", "Match", "Role", "find"]
