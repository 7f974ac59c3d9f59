"""What carries messages between the two sides: envelopes, the two nodes, and the one ledger that counts."""
