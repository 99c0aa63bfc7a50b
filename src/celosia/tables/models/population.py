"""The population that models of presence and of k-map compare a table with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.tables.models.classes import Classes
from celosia.tables.models.model import Model


def population_of(classes: Classes, model: Model) -> NDArray[np.int64]:
    """The people of the population that fit each class.

    Raises:
        InputError: CEL-P034 no population was given.
    """
    if classes.population is None:
        raise InputError("CEL-P034", promise=model.promise())
    return classes.population
