"""Published results and their reproduction: the model, the jobs and the pages."""
