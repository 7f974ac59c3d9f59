"""What makes the two sides meet: the simulator, and sweeps of many runs."""
