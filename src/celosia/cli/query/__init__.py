"""`celosia query`: ask a database that one may not see, in SQL."""

from celosia.cli.query.command import query

__all__ = ["query"]
