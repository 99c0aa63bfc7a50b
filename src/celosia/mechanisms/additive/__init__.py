"""Noise that is added to an answer on the whole numbers or on a grid."""
