"""Jobs: module-level functions that worker processes run, each with its voice first."""
