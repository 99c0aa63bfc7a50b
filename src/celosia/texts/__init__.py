"""Publish documents: find what identifies people, replace it, and account for what is left."""
