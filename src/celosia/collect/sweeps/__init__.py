"""Sweeps: simulated collections over a grid of protocols and parameters, repeated and resumable."""
