"""Publish graphs: perturbation, k-degree anonymity, uncertain graphs, generalisation."""
