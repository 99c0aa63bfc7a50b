"""Publish locations and traces: check-ins, trajectories, flows."""
