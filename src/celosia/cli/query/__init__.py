"""`celosia query`: private queries against the database of a policy."""

from celosia.cli.query.command import query

__all__ = ["query"]
