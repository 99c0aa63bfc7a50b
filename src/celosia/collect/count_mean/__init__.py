"""Sketches of randomised reports: count mean, its Hadamard form, and what they share."""
