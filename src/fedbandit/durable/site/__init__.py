"""A site that forgets nothing: what it has learnt, has yet to hear of, and has yet to send. Without input or output."""
