"""Reports of very many devices, counted in many places at once and added up."""
