"""The files that graphs are kept in, one module a format."""
