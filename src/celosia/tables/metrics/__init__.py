"""How much use a release has lost: one module per metric."""

from celosia.tables.metrics.loss import Loss

__all__ = ["Loss"]
