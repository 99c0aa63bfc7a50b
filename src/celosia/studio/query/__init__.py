"""Private queries: the model, the jobs and the pages."""
