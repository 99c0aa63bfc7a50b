"""Publishing a graph: the model, the drawing, the jobs and the pages."""
