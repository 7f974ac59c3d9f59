"""Worlds: what is on offer at each turn, whose turn it is, and how choices are answered."""
