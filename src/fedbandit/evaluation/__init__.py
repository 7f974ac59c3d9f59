"""What a policy would have earned, estimated from a log of another's decisions."""
