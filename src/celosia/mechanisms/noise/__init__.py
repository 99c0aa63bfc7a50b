"""Exact noise on the whole numbers, behind one interface.

A law (`DiscreteLaplace`, `DiscreteGaussian`) is drawn by one of two samplers that agree in
distribution: OpenDP's for ordinary answers, out of a pool that was filled before the question came,
and our own vectorised one for large vectors and for seeded simulations. `bernoulli_exp` tosses
exact coins and `draw_weighted` makes one exact choice. No float takes part in a draw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.lazy_imports import on_first_use

if TYPE_CHECKING:
    from celosia.mechanisms.noise.bernoulli import bernoulli_exp
    from celosia.mechanisms.noise.laws import DiscreteGaussian, DiscreteLaplace, Law
    from celosia.mechanisms.noise.weighted_draw import draw_weighted

__all__ = ["DiscreteGaussian", "DiscreteLaplace", "Law", "bernoulli_exp", "draw_weighted"]

__getattr__, __dir__ = on_first_use(__name__)
