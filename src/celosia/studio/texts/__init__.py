"""Publishing documents: the jobs and the pages; the texts of the lessons lie beside them."""
