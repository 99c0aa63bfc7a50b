"""File formats of graphs, one module per format."""
