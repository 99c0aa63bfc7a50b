"""Types of the arrays that compiled loops over graphs work on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
"""Whole numbers: starts of rows, keys of edges, degrees, classes."""
Vertices = NDArray[np.int32]
"""Numbers of vertices: rows of neighbours, ends of edges, and what is kept for each vertex."""
Floats = NDArray[np.float64]
Words = NDArray[np.uint64]
"""Random or mixed bits."""
Flags = NDArray[np.bool_]
