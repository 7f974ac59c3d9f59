"""Declared features: from the values of a context and of arms to vectors, the same at every site."""
