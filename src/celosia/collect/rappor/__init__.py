"""RAPPOR: two stages of randomised response over Bloom filters, and how it is decoded."""
