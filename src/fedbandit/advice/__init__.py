"""What a federation would have bought, from a log of past decisions: which algorithm, and at how many bytes a day."""
