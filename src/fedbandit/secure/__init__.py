"""Secure aggregation: the coordinator learns the sum over the sites of a round, and nothing of one (Bonawitz 2017)."""
