"""Many clients and a server in one process: the simulator, runs and their results, and everything that goes wrong."""
