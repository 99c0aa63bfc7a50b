"""RDF graphs as tables: terms as numbers, the store of facts, loading and checking."""
