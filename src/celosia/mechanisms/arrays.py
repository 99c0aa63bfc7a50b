"""Private values as an array, where they make one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def array_of(values: Any) -> NDArray[Any] | None:
    """The values as an array, or None: lists of unequal lengths, or what is hidden under a mask.

    >>> array_of([1, 2]), array_of([[1], [2, 3]])
    (array([1, 2]), None)
    """
    # None, and no refusal from here: an error raised while NumPy's is handled would carry that
    # along, and its text may hold values. NumPy forgets a mask, and would use what is under it.
    try:
        return None if np.ma.is_masked(values) else np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        return None
