"""Models of documents by their names on the command line and in certificates."""

from __future__ import annotations

from celosia.core.notation import method_from_text
from celosia.texts.models import MODELS, TextModel


def model_from_text(text: str) -> TextModel:
    """A model in the notation of the command line: NAME:KEY=VALUE,...

    >>> model_from_text("rare-terms:k=5")
    RareTerms(k=5, bits=None)
    """
    return method_from_text(MODELS, text, what="model")
