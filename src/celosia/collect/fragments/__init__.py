"""Discovery of common texts without a list of them, from their fragments."""
