"""Choosing two arms, and learning from which of them won."""
