"""Logs of past decisions: read from files and data frames, checked row by row."""
