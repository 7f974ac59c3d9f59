"""What both ends agree on: envelopes, numbers, schemas, the charter, the two nodes, and the one ledger that counts."""
