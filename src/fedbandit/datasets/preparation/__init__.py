"""From data sets to what environments show to algorithms."""
