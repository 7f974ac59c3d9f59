"""Federated contextual bandits: many sites decide locally, learn together, and keep their data."""
