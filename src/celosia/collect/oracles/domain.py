"""Public domains: all values that a report can be about, known before the collection."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.sketches.hashing import digests

MOST_VALUES = 2**22
_UNKNOWN = -1


@dataclass(frozen=True)
class Domain:
    """Different texts or whole numbers, each with its place.

    Raises:
        InputError: CEL-R050 they are not 2 to 4,194,304 different texts or whole numbers.

    >>> Domain(("car", "bus", "bike")).places(["bus", "car"]).tolist()
    [1, 0]
    """

    values: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        listed = self.values
        plain = isinstance(listed, tuple) and all(
            isinstance(each, (str, bytes, int)) and not isinstance(each, bool) for each in listed
        )
        if not plain or not 2 <= len(listed) <= MOST_VALUES or len(set(listed)) < len(listed):
            raise InputError("CEL-R050", most_values=MOST_VALUES)

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def fingerprint(self) -> str:
        """The domain in 32 digits: BLAKE2b of the digests of its values, in their order."""
        listed = np.ascontiguousarray(digests(list(self.values)), dtype="<u8")
        return hashlib.blake2b(listed.tobytes(), digest_size=16).hexdigest()

    def places(self, values: Any) -> NDArray[np.int64]:
        """The places of values, one for each.

        Raises:
            InputError: CEL-R051 a value is not in the domain; which one is not told.
        """
        array = values.to_numpy() if hasattr(values, "to_numpy") else values
        if isinstance(array, np.ndarray) and array.dtype.kind in "iuUS" and array.ndim == 1:
            different, where = np.unique(array, return_inverse=True)
            found = self._looked_up(different.tolist())[where.reshape(-1)]
        else:
            found = self._looked_up(array.tolist() if isinstance(array, np.ndarray) else array)
        if np.any(found == _UNKNOWN):
            raise InputError("CEL-R051")
        return found

    def _looked_up(self, values: Any) -> NDArray[np.int64]:
        found = [_UNKNOWN]
        with suppress(TypeError):  # not a list, or of values that cannot be looked up
            found = [self._places.get(each, _UNKNOWN) for each in values]
        return np.array(found, dtype=np.int64)

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return {value: place for place, value in enumerate(self.values)}
