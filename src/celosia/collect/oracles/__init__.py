"""The modern oracles: how common each value of a domain is, with the least error."""
