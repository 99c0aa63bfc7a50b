"""Celosía: data privacy under one roof."""
