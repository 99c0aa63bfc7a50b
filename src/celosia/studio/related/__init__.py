"""Several tables that belong together, made synthetic: the model, the jobs and the pages."""
