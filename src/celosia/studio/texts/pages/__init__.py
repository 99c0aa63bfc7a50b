"""The pages of this door; each module registers its own when it is loaded."""
