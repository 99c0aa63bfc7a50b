"""Benchmarks: ratios against a peer or a physical limit, measured in one run."""
