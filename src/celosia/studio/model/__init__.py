"""What the pages compute, free of any toolkit."""
