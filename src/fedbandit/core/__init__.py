"""Vocabulary, interfaces, errors and randomness: what every other folder speaks."""
