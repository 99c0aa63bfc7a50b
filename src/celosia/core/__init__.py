"""The words that every door uses: errors, guarantees, randomness, progress, releases, reports."""
