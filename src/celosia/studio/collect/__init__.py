"""Local differential privacy: the model of a simulation, the jobs and the pages."""
