"""Nodes that forget nothing they have said: a site and a coordinator on journals. Without input or output."""
