"""Spark: a session on this machine or on a cluster, for data that outgrew one process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.lazy_imports import on_first_use

if TYPE_CHECKING:
    from celosia.engines.spark.session import spark_session
    from celosia.engines.spark.sql import SparkEngine

__all__ = ["SparkEngine", "spark_session"]

__getattr__, __dir__ = on_first_use(__name__)
