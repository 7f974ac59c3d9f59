"""Speed and memory: what is measured, and the floor that it must keep."""
