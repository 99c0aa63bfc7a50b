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
        raise InputError(
            "CEL-P034",
            f"{model.promise()} needs a population, and none was given.",
            why="The model compares each class with the people of the population who fit it.",
            fix="Give a table of the population, or choose a model that needs none.",
        )
    return classes.population
