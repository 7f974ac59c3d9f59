"""The panels of figures and the tables of the five papers, one file a paper."""
