"""Private SQL as it was published: elastic sensitivity on TPC-H, reproduced."""
