"""Spark: a session on this machine or on a cluster, for data that outgrew one process."""

from celosia.engines.spark.session import spark_session
from celosia.engines.spark.sql import SparkEngine

__all__ = ["SparkEngine", "spark_session"]
