"""A whole federation on one machine, to be looked at."""
