"""The studio: a web application over every door, in English and Spanish.

The faces hold no logic: pages (`pages`) draw with widgets (`widgets`), heavy work (`work`) runs in
processes of its own (`jobs`), and all of it only calls what Python and the command line offer too.
"""
