"""Generalisation: groups of vertices, published with the numbers of their edges."""
