"""A deployment beside the algorithms: the coordinator's process, what it tells of itself, its web pages."""
