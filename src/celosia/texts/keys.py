"""The key of a release: what pseudonyms, surrogates and shifts come from."""

from celosia.core.pseudonyms.keys import Key

__all__ = ["Key"]
