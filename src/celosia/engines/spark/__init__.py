"""Spark: a session on this machine or on a cluster, for data that outgrew one process."""

from celosia.engines.spark.session import spark_session

__all__ = ["spark_session"]
