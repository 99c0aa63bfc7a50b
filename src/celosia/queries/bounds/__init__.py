"""How far one person or one row can move an answer, and the noise that hides it."""
