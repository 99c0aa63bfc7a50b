"""Random perturbation of edges: fast, for graphs of any size, without a formal guarantee."""
