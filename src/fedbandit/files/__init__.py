"""File formats that several folders read and write."""
