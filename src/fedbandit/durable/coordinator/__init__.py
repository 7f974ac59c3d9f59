"""A coordinator that forgets nothing that it has acknowledged. Without input or output."""
