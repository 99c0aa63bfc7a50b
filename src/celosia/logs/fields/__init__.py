"""Fields that identify by themselves: addresses, web addresses, agents, times, persons."""

from celosia.logs.fields.treatment import Fields

__all__ = ["Fields"]
